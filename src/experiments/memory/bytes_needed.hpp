// How many bytes in flight a rate needs, from a curve of the rate against bytes in flight.
#pragma once

#include <cstdint>
#include <map>

namespace gputomo::experiments {

/// Share of the peak for which the needed bytes are reported. A larger share depends more on noise near the peak.
inline constexpr double kShareOfPeak = 0.9;

/// Bytes per cycle and SM, by bytes in flight of an SM.
using FlightCurve = std::map<std::int64_t, double>;

struct BytesNeeded {
    double peak = 0;                      ///< highest rate of the curve
    double bytes = 0, low = 0, high = 0;  ///< bytes for the share of the peak, interpolated, and the points around it
    bool saturated = false;               ///< whether the curve goes far enough beyond them to call the peak one
};

[[nodiscard]] BytesNeeded bytes_needed(const FlightCurve& curve);

}  // namespace gputomo::experiments
