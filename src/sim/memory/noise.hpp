// Measurement noise on request: what a real GPU adds to the latency of a memory access.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace gputomo::sim {

/// Measurement noise to add on request, so that deduction is tested under the conditions that it will meet.
struct Noise {
    double jitter_cycles = 0;     ///< standard deviation of a normal error on each memory access's latency
    double outlier_fraction = 0;  ///< share of memory accesses that take outlier_cycles more
    double outlier_cycles = 2000;
    double clock_drift = 0;  ///< largest relative change of the SM clock against wall time between launches
};

/// Draws the noise of one access after the other; the same seed gives the same noise.
class NoiseSource {
public:
    NoiseSource(const Noise& noise, std::uint64_t seed)
        : noise_(noise), random_(seed), jitter_(0, noise.jitter_cycles > 0 ? noise.jitter_cycles : 1) {}

    [[nodiscard]] bool silent() const { return noise_.jitter_cycles <= 0 && noise_.outlier_fraction <= 0; }
    /// Whole cycles to add to a latency; may be negative.
    [[nodiscard]] double draw() {
        double extra = noise_.jitter_cycles > 0 ? std::round(jitter_(random_)) : 0;
        if (noise_.outlier_fraction > 0 && static_cast<double>(random_() >> 11) * 0x1p-53 < noise_.outlier_fraction)
            extra += noise_.outlier_cycles;
        return extra;
    }

private:
    Noise noise_;
    std::mt19937_64 random_;
    std::normal_distribution<double> jitter_;
};

}  // namespace gputomo::sim
