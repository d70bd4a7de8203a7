// What an instrument may use: the device, the seed of its random choices, a budget, and a way to report progress.
#pragma once

#include "device/device.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace gputomo::measure {

/// How much a run may measure. What a GPU does in a second takes a simulator minutes, so methods name two amounts.
enum class Budget : std::uint8_t {
    full,   ///< as much as the method can use
    small,  ///< as little as the method needs
};

/// The budget of a run that does not name one.
[[nodiscard]] inline Budget usual_budget(const device::Device& device) {
    return device.simulated() ? Budget::small : Budget::full;
}

/// An instrument knows no finding: what earlier experiments learned reaches it as an argument.
struct Run {
    device::Device& device;
    std::uint64_t seed = 1;
    bool quick = false;
    /// Cycles by which the clock register steps.
    double clock_step = 1;
    /// Reports progress in 0..1 and throws Interrupted when the user asked to stop. Call it between launches.
    std::function<void(double fraction, std::string_view what)> progress;
    Budget budget = usual_budget(device);
};

}  // namespace gputomo::measure
