// Mean latency of memory accesses against throughput: a + b x / (c - x) (Volkov 2016, 6.4).
#pragma once

#include <array>
#include <optional>
#include <span>

namespace gputomo::deduce {

/// One occupancy: what all accesses together attained, and what one of them took.
struct LoadedLatency {
    double throughput = 0;
    double latency = 0;
};

struct ContentionFit {
    struct Coefficient {
        double value = 0;
        std::array<double, 2> interval{};  ///< of fits whose error is not much larger than the smallest
    };
    Coefficient a, b, c;
    double largest_error = 0;  ///< of the latencies, relative: how well the form holds
};

/// Least squares of relative errors; for each c the other two follow. nullopt for fewer than four samples or where
/// latency does not grow.
[[nodiscard]] std::optional<ContentionFit> fit_contention(std::span<const LoadedLatency> samples);

}  // namespace gputomo::deduce
