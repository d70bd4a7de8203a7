#include "measure/mix/fitting_loop_length.hpp"

#include "measure/mix/mix_arrays.hpp"
#include "measure/mix/mix_throughput.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gputomo::measure {
namespace {

/// Each candidate is a quarter shorter than the one before; the last one is about a quarter of the first.
constexpr int kShorterBy = 4;
constexpr std::size_t kLengths = 6;
/// Occupancies at which loops are compared, as divisors of the most warps. Fetching shows where warps just cover the
/// latency of adds; with many more warps the others hide it.
constexpr int kParts[] = {4, 2};
/// A shorter loop that is faster than a longer one by more than this factor waits less for instructions. Its loop
/// overhead alone would make it slower.
constexpr double kFaster = 1.01;

std::vector<int> lengths() {
    std::vector<int> all{kLoopLength};
    while (all.size() < kLengths) all.push_back(all.back() - all.back() / kShorterBy);
    return all;
}

/// Adds per cycle at each occupancy; 0 if it was not attained.
std::vector<double> rates(device::Device& device, int loop_length) {
    MixArrays arrays(device);
    MixThroughput adds(device, {.arithmetic_only = true, .loop_length = loop_length}, arrays.of(MixAccess::sfu));
    std::vector<double> found;
    for (const int part : kParts)
        found.push_back(adds.instructions_per_cycle(std::max(1, max_warps_of(device) / part)).value_or(0));
    return found;
}

}  // namespace

int fitting_loop_length(device::Device& device) {
    const auto candidates = lengths();
    int best = candidates.back();
    std::vector<double> shorter;  // the best rates of all shorter loops
    for (auto candidate = candidates.rbegin(); candidate != candidates.rend(); ++candidate) {
        const auto found = rates(device, *candidate);
        shorter.resize(found.size());
        if (std::ranges::equal(shorter, found, [](double before, double now) { return before <= kFaster * now; }))
            best = *candidate;
        std::ranges::transform(found, shorter, shorter.begin(),
                               [](double now, double before) { return std::max(now, before); });
    }
    return best;
}

}  // namespace gputomo::measure
