// What an instrument may use: the device, the seed of its random choices, and a way to report progress.
#pragma once

#include "device/device.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace gputomo::measure {

/// An instrument knows no finding: what earlier experiments learned reaches it as an argument.
struct Run {
    device::Device& device;
    std::uint64_t seed = 1;
    bool quick = false;
    /// Cycles by which the clock register steps.
    double clock_step = 1;
    /// Reports progress in 0..1 and throws Interrupted when the user asked to stop. Call it between launches.
    std::function<void(double fraction, std::string_view what)> progress;
};

}  // namespace gputomo::measure
