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

std::string_view Experiment::file() const {
    // This file's own path ends in a part that is known; what precedes that part is the root of the source tree.
    constexpr std::string_view kHere = __FILE__, kHereInTree = "src/experiments/experiment.cpp";
    static_assert(kHere.ends_with(kHereInTree));
    constexpr std::string_view kRoot = kHere.substr(0, kHere.size() - kHereInTree.size());
    std::string_view path = compiled_from;
    if (path.starts_with(kRoot)) path.remove_prefix(kRoot.size());
    return path;
}

}  // namespace gputomo::experiments
