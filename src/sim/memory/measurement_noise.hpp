// Errors of measurement on request: what a real GPU adds to the latency of an access.
#pragma once

#include "sim/simulator.hpp"

#include <cmath>
#include <cstdint>
#include <random>

namespace gputomo::sim {

class MeasurementNoise {
public:
    MeasurementNoise(const Noise& noise, std::uint64_t seed)
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
