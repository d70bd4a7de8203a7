#include "deduce/cache/policy/trace_statistics.hpp"

#include "deduce/cache/traces/remove_outliers.hpp"

#include <algorithm>

namespace gputomo::deduce::cache {
namespace {

/// Slow loads, of two passes together, that a share of recurring misses rests on. From fewer, a share near 1 arises at
/// random.
constexpr std::size_t kMinMisses = 12;

}  // namespace

double periodic_share(const std::vector<PolicyRun>& runs) {
    double most = 0;
    for (std::size_t period = 1; period <= kMaxPeriod; ++period) {
        RepeatCount repeats;
        for (const auto& run : runs)
            for (const auto& s : run.segments)
                for (std::size_t i = period * run.pass_loads; i < s.missed.size(); ++i) {
                    const std::size_t before = i - period * run.pass_loads;
                    repeats.count(s.missed[i] && !s.outlier[i], s.missed[before] && !s.outlier[before]);
                }
        if (repeats.either >= kMinMisses)
            most = std::max(most, static_cast<double>(repeats.both) / static_cast<double>(repeats.either));
    }
    return most;
}

double age_bias(const std::vector<PolicyRun>& runs, std::uint32_t ways, double outlier_rate) {
    double sum = 0;
    int victims = 0;
    for (const auto& run : runs)
        for (const auto& segment : run.segments) {
            std::vector<std::size_t> used(ways, 0);
            std::size_t now = 0;
            for (const auto& step : explain(segment, ways, *make_model("random", ways), outlier_rate).steps) {
                // Until each way was used about twice, their ages are not known.
                if (step.evicted && now > 2 * ways) {
                    const auto newer =
                        std::count_if(used.begin(), used.end(), [&](std::size_t u) { return u > used[step.way]; });
                    sum += static_cast<double>(newer) / (ways - 1) - 0.5;
                    ++victims;
                }
                used[step.way] = ++now;
            }
        }
    return victims == 0 ? 0 : sum / victims;
}

}  // namespace gputomo::deduce::cache
