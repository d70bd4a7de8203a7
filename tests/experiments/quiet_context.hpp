// The context of an experiment in a test.
#pragma once

#include "experiments/experiment.hpp"

#include <cstdint>
#include <string_view>

namespace gputomo::experiments {

/// A context on this device that discards progress. Device and findings must outlive it.
[[nodiscard]] inline Context quiet_context(device::Device& device, const Findings& findings, bool quick = false,
                                           std::uint64_t seed = 1) {
    return {
        .device = device, .findings = findings, .seed = seed, .quick = quick, .progress = [](double, std::string_view) {
        }};
}

}  // namespace gputomo::experiments
