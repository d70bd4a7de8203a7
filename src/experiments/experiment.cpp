#include "experiments/experiment.hpp"

#include <algorithm>

namespace gputomo::experiments {

double clock_step(const Findings& findings) { return findings.number("clock.resolution").value_or(1); }

double least_level_step(const Findings& findings) {
    // Below three cycles, jitter could split a level in two. Readings of one latency fall on two neighbouring
    // steps of the clock, so that one step would also split it, and two steps would merge close levels.
    constexpr double kLeast = 3, kClockSteps = 1.5;
    return std::max(kLeast, kClockSteps * clock_step(findings));
}

double sm_mhz_of(const Findings& findings, const device::Device& device) {
    return findings.number("clock.sm_mhz")
        .value_or(static_cast<double>(device.attribute(device::Attribute::clock_rate_khz).value_or(0)) / 1000);
}

std::string_view Experiment::file() const {
    // The compiler may have been given an absolute or a relative path: what precedes the tree's own part is dropped.
    const std::string_view path = compiled_from;
    const auto in_tree = path.rfind("src/experiments/");
    return in_tree == std::string_view::npos ? path : path.substr(in_tree);
}

}  // namespace gputomo::experiments
