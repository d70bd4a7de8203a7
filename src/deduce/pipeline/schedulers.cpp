#include "deduce/pipeline/schedulers.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::deduce {
namespace {

/// Warps that take at least this many times as long as a lone one are delayed by others, so their scheduler is
/// saturated. Closer to 1, jitter of unsaturated warps would bend the line; farther, it has fewer points. Chosen by
/// hand.
constexpr double kSlower = 1.1;

/// Linear regression of the time against the warps of the fullest scheduler, over the saturated samples.
SchedulerFit fit(std::span<const SchedulerSample> samples, int schedulers) {
    SchedulerFit result{
        .schedulers = schedulers, .alone = samples.front().cycles, .issue_cycles = 0, .overhead = 0, .error = 0};
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const auto& [warps, cycles] : samples) {
        if (cycles < kSlower * result.alone) continue;
        const double most = std::ceil(warps / schedulers);
        n += 1, x += most, y += cycles, xx += most * most, xy += most * cycles;
    }
    const double spread = n * xx - x * x;
    result.issue_cycles = spread > 0 ? (n * xy - x * y) / spread : 0;
    result.overhead = n > 0 ? (y - result.issue_cycles * x) / n : 0;
    for (const auto& [warps, cycles] : samples) {
        const double explained =
            std::max(result.alone, result.overhead + std::ceil(warps / schedulers) * result.issue_cycles);
        result.error += std::pow(std::log(cycles / explained), 2);
    }
    result.error = std::sqrt(result.error / static_cast<double>(samples.size()));
    return result;
}

}  // namespace

std::vector<SchedulerFit> scheduler_fits(std::span<const SchedulerSample> samples, int most) {
    std::vector<SchedulerFit> fits;
    if (samples.size() < 2) return fits;
    for (int schedulers = 1; schedulers <= most; ++schedulers) fits.push_back(fit(samples, schedulers));
    std::ranges::stable_sort(fits, {}, &SchedulerFit::error);
    return fits;
}

}  // namespace gputomo::deduce
