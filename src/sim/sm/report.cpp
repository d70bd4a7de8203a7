// The messages of a launch that fails.
#include "sim/sm/engine.hpp"
#include "units/error.hpp"
#include "units/processor_time.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {

void Engine::check_time_limit() {
    if (thread_processor_time() < deadline_) return;
    const auto running = std::find_if(warps_.begin(), warps_.end(), [](const Warp& w) { return w.in_use; });
    throw TimeLimitError(fmt::format("launch of {}: not finished within {} ms (simulated cycle {:.0f}); {}",
                                     program_.name, setup_.launch.time_limit.count(), latest_,
                                     running == warps_.end() ? "no warp left" : where(*running)));
}

std::string Engine::where(const Warp& warp, const WarpPath& path) const {
    const auto at = [&](std::uint32_t pc) {
        return fmt::format("line {}: {}", program_.operations[pc].line, program_.texts[pc]);
    };
    if (path.awaits_members)
        return fmt::format("waits at {} (for threads of its member mask that have not arrived)", at(path.pc));
    if (path.barrier < 0) return fmt::format("is at {}", at(path.pc));
    const Barrier& barrier = blocks_[warp.block].barriers[static_cast<std::size_t>(path.barrier)];
    return fmt::format("waits at {} ({})", at(path.pc - 1), describe(spec_.barriers, barrier, path.barrier));
}

std::string Engine::where(const Warp& warp) const {
    const Block& block = blocks_[warp.block];
    std::string text = fmt::format("block ({}, {}, {}) warp {} ", block.coordinates[0], block.coordinates[1],
                                   block.coordinates[2], warp.in_block);
    if (!warp.paths.independent() || warp.paths.all().size() == 1) return text + where(warp, warp.paths.current());
    std::string_view separator;
    for (const auto& path : warp.paths.all()) {
        text += fmt::format("{}threads 0x{:08x} {}", separator, path.mask, where(warp, path));
        separator = "; ";
    }
    return text;
}

void Engine::report_deadlock() const {
    constexpr int kMostShown = 8;
    std::string text = fmt::format("launch of {}: deadlock: {} warps left and none can go on (simulated cycle {:.0f})",
                                   program_.name, live_warps_, latest_);
    int shown = 0;
    for (const auto& warp : warps_) {
        if (!warp.in_use || shown++ >= kMostShown) continue;
        text += fmt::format("\n    {}\n        {}; {}", where(warp), describe(fetch_.spec, warp.buffer),
                            describe(warp.scoreboard));
    }
    if (shown > kMostShown) text += fmt::format("\n    and {} more", shown - kMostShown);
    text += "\n  " + describe(block_spec_, block_state_);
    shown = 0;
    std::uint32_t last_sm = ~std::uint32_t{0};
    for (const auto& scheduler : schedulers_) {
        if (scheduler.warps.empty() || shown++ >= kMostShown) continue;
        if (scheduler.sm != last_sm) text += "\n  " + describe(load_store_.state, scheduler.sm);
        last_sm = scheduler.sm;
        text += "\n  " + describe(scheduler);
    }
    throw DeviceError(text);
}

void Engine::fail(const Warp& warp, const Operation& op, int lane, const std::string& what) const {
    const Block& block = blocks_[warp.block];
    throw DeviceError(fmt::format("launch of {}: {} by block ({}, {}, {}) thread {} at line {}: {}", program_.name,
                                  what, block.coordinates[0], block.coordinates[1], block.coordinates[2],
                                  warp.in_block * kWarpSize + static_cast<std::uint32_t>(lane), op.line,
                                  program_.texts[static_cast<std::size_t>(&op - program_.operations.data())]));
}

}  // namespace gputomo::sim
