// The messages of a launch that fails.
#include "sim/sm/engine/engine.hpp"
#include "units/error.hpp"
#include "units/interruption.hpp"
#include "units/processor_time.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {

void Engine::check_limits() {
    look_for_interruption();
    if (setup_.most_instructions && counters_.warp_instructions > *setup_.most_instructions)
        throw InstructionLimitError(fmt::format("launch of {}: more than {} warp instructions (simulated cycle {:.0f})",
                                                shape_.name, *setup_.most_instructions, latest_));
    if (thread_processor_time() < deadline_) return;
    const auto running = std::find_if(warps_.begin(), warps_.end(), [](const ResidentWarp* w) { return w->in_use; });
    throw TimeLimitError(fmt::format("launch of {}: not finished within {} ms (simulated cycle {:.0f}); {}",
                                     shape_.name, setup_.launch.time_limit.count(), latest_,
                                     running == warps_.end() ? "no warp left" : where(**running)));
}

std::string Engine::place_of(const ResidentWarp& warp) const {
    const Block& block = blocks_[warp.block];
    return fmt::format("block ({}, {}, {}) warp {}", block.coordinates[0], block.coordinates[1], block.coordinates[2],
                       warp.in_block);
}

void Engine::report_deadlock() const {
    constexpr int kMostShown = 8;
    std::string text = fmt::format("launch of {}: deadlock: {} warps left and none can go on (simulated cycle {:.0f})",
                                   shape_.name, live_warps_, latest_);
    int shown = 0;
    for (const ResidentWarp* const warp : warps_) {
        if (!warp->in_use || shown++ >= kMostShown) continue;
        text += fmt::format("\n    {}\n        {}; {}", where(*warp), describe(units_.fetch.spec, warp->buffer),
                            operands_of(*warp));
    }
    if (shown > kMostShown) text += fmt::format("\n    and {} more", shown - kMostShown);
    text += "\n  " + describe(units_.block_launch_spec, units_.block_launch);
    shown = 0;
    std::uint32_t last_sm = ~std::uint32_t{0};
    for (const auto& scheduler : units_.schedulers) {
        if (scheduler.warps.empty() || shown++ >= kMostShown) continue;
        if (scheduler.sm != last_sm) text += "\n  " + describe(units_.load_store.state, scheduler.sm);
        last_sm = scheduler.sm;
        text += "\n  " + describe(scheduler);
    }
    throw DeviceError(text);
}

}  // namespace gputomo::sim
