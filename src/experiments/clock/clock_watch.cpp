#include "experiments/clock/clock_watch.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace gputomo::experiments {
namespace {

/// Share by which the clock may move. NVML reports it in steps of 15 MHz, and a change below 1% is at most one step.
constexpr double kSteadyClock = 0.01;

/// What disturbed a measurement; nothing if nothing did.
std::optional<std::string> disturbance(const device::ClockState& before, const device::ClockState& after) {
    if (before.sm_mhz && after.sm_mhz && std::abs(*after.sm_mhz - *before.sm_mhz) > kSteadyClock * *before.sm_mhz)
        return fmt::format("the SM clock moved from {:.0f} to {:.0f} MHz", *before.sm_mhz, *after.sm_mhz);
    if (after.other_processes.value_or(0) > 0)
        return fmt::format("{} other process(es) used the GPU", *after.other_processes);
    return std::nullopt;
}

}  // namespace

Outcome watched(Context& context, Outcome (*measure)(Context&)) {
    for (bool last : {false, true}) {
        const auto before = context.device.clock_state();
        Outcome outcome = measure(context);
        const auto disturbed = disturbance(before, context.device.clock_state());
        if (!disturbed) return outcome;
        if (last) {
            outcome.warnings.push_back(*disturbed + " while this was measured, twice; measure again on an idle GPU");
            return outcome;
        }
    }
    return {};
}

}  // namespace gputomo::experiments
