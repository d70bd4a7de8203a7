#include "experiments/experiment.hpp"

#include <algorithm>

namespace gputomo::experiments {

double clock_step(const Findings& findings) { return findings.number("clock.resolution").value_or(1); }

double least_level_step(const Findings& findings) {
    constexpr double kLeast = 3, kClockSteps = 1.5;
    return std::max(kLeast, kClockSteps * clock_step(findings));
}

double sm_mhz_of(const Findings& findings, const device::Device& device) {
    return findings.number("clock.sm_mhz")
        .value_or(static_cast<double>(device.attribute(device::Attribute::clock_rate_khz).value_or(0)) / 1000);
}

}  // namespace gputomo::experiments
