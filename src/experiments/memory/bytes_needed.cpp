#include "experiments/memory/bytes_needed.hpp"

#include <algorithm>

namespace gputomo::experiments {
namespace {

/// The peak is one if this share of the largest number of bytes in flight suffices for kShareOfPeak of it. Beyond it,
/// more bytes in flight may bring more than was measured.
constexpr double kEnough = 0.7;

}  // namespace

BytesNeeded bytes_needed(const FlightCurve& curve) {
    BytesNeeded needed;
    for (const auto& [bytes, rate] : curve) needed.peak = std::max(needed.peak, rate);
    const double wanted = kShareOfPeak * needed.peak;
    double below = 0, rate_below = 0;
    for (const auto& [bytes, rate] : curve) {
        if (rate < wanted) {
            below = static_cast<double>(bytes), rate_below = rate;
            continue;
        }
        needed.low = below, needed.high = static_cast<double>(bytes);
        needed.bytes = below + (wanted - rate_below) / (rate - rate_below) * (needed.high - below);
        break;
    }
    needed.saturated = needed.high <= kEnough * static_cast<double>(curve.rbegin()->first);
    return needed;
}

}  // namespace gputomo::experiments
