#include "experiments/occupancy/mix_rates.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace gputomo::experiments {
namespace {

/// The loop's control takes at most this share of an iteration; a larger correction is an error of the two rates.
constexpr double kMostControl = 0.05;
/// Samples of a stream at each occupancy. Under load they differ by a percent, which is much for a fit of latency over
/// throughput, so their mean counts. If each SM runs one warp, the fastest sample counts. A chain comes to a new page
/// now and then, and its loads then wait for translation as well.
constexpr int kStreamSamples = 2;

/// Instructions per cycle without the loop's control, from iterations of two lengths with `whole` and `half`
/// instructions. Nothing hides the control if few warps wait for short latencies or all reach the end of an iteration
/// together. If the two rates contradict each other, the rate of the longer iteration stays.
double without_control(double rate, double whole, double half_rate, double half) {
    const double better = (whole - half) / (whole / rate - half / half_rate);
    return better >= rate && better <= rate * (1 + kMostControl) ? better : rate;
}

MixShape half_of(MixShape shape) {
    shape.loop_length /= 2;
    return shape;
}

}  // namespace

ControlFreeMix::ControlFreeMix(Context& context, const MixShape& shape, LinkedArray& array, Outcome& outcome)
    : whole_(context.device, shape, array), half_(context.device, half_of(shape), array) {
    add_code_checks(whole_.compiled(), outcome);
    add_code_checks(half_.compiled(), outcome);
}

std::optional<double> ControlFreeMix::instructions_per_cycle(int warps) {
    const auto rate = whole_.instructions_per_cycle(warps);
    const auto half_rate = rate ? half_.instructions_per_cycle(warps) : std::nullopt;
    if (!half_rate) return rate;
    return without_control(*rate, whole_.shape().instructions(), *half_rate, half_.shape().instructions());
}

std::optional<double> RepeatedMix::instructions_per_cycle(int warps) {
    std::vector<double> rates;
    for (int i = 0; i < kStreamSamples; ++i)
        if (const auto rate = mix_.instructions_per_cycle(warps)) rates.push_back(*rate);
    if (rates.empty()) return std::nullopt;
    return warps == 1 || counts_ == Counts::fastest
               ? std::ranges::max(rates)
               : std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}

}  // namespace gputomo::experiments
