#include "deduce/pipeline/mma_slots.hpp"

#include <algorithm>
#include <limits>

namespace gputomo::deduce {
namespace {

/// Share by which the rate of one mix may differ in another run. Between the two recorded surfaces of an H200
/// (recordings/h200-surface-tensor*) these rates differ by less than 0.1%. A smaller share would claim intervals that
/// the next run leaves; a larger one widens them.
constexpr double kRepeats = 0.003;
/// The slots of two mixes agree within this share; a chosen value. Where they differ more, something else than issue
/// limits one of the mixes.
constexpr double kSameSlots = 0.15;

}  // namespace

double mma_to_add_latency(double pair, double add_latency) { return 2 * pair - add_latency; }

MmaSlots mma_slots(std::span<const MmaMix> mixes, double adds_alone) {
    MmaSlots found{.interval = {std::numeric_limits<double>::infinity(), 1}};
    for (const auto& mix : mixes) {
        const double group = (1 + mix.adds) * adds_alone / mix.rate, off = kRepeats * group;
        found.by_mix.push_back(group - mix.adds);
        found.interval[0] = std::min(found.interval[0], found.by_mix.back() - off);
        found.interval[1] = std::max(found.interval[1], found.by_mix.back() + off);
    }
    const auto [least, most] = std::ranges::minmax(found.by_mix);
    found.least = least, found.most = most;
    found.slots = std::max(1.0, (least + most) / 2);
    found.interval[0] = std::max(1.0, found.interval[0]);
    found.agree = most <= least * (1 + kSameSlots);
    return found;
}

}  // namespace gputomo::deduce
