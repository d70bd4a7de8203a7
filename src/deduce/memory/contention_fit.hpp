// Fits the mean memory latency against throughput x by a + b x / (c - x) (Volkov 2016, 6.4).
#pragma once

#include <array>
#include <optional>
#include <span>

namespace gputomo::deduce {

/// A measurement at one occupancy.
struct LoadedLatency {
    double throughput = 0;  ///< of all accesses together, in any unit: `c` has the same
    double latency = 0;     ///< mean of an access, in any unit: `a` and `b` have the same
};

struct ContentionFit {
    struct Coefficient {
        double value = 0;
        std::array<double, 2> interval{};  ///< its range over the fits whose error is not much larger than the smallest
    };
    Coefficient a, b, c;
    double largest_error = 0;  ///< largest relative error of a latency: how well the formula holds
};

/// Least squares of the relative errors over a grid of c, for each of which a and b follow by linear regression.
/// Returns nullopt for fewer than four samples, and if latency does not grow with throughput.
[[nodiscard]] std::optional<ContentionFit> fit_contention(std::span<const LoadedLatency> samples);

}  // namespace gputomo::deduce
