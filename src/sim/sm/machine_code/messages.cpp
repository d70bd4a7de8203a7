// What a launch of machine code that fails says of its warps.
#include "sim/sm/machine_code/sass_engine.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {

std::string SassEngine::where(const ResidentWarp& resident) const {
    using State = machine_code::Path::State;
    const Warp& warp = of(resident);
    std::string text = place_of(warp);
    std::string_view separator = " ";
    for (const auto& path : warp.paths.all()) {
        const auto& waiters = waiters_[warp.block];
        const auto waiter =
            std::ranges::find(waiters, static_cast<std::uint32_t>(&warp - of_warps_.data()), &Waiter::warp);
        const bool for_phase = warp.waits_for_phase && waiter != waiters.end();
        const std::size_t at = for_phase                                      ? waiter->step
                               : path.state == State::ready || path.step == 0 ? path.step
                                                                              : path.step - 1;
        const std::string what =
            at < program_.steps.size() ? machine_code::text_of(program_, at) : std::string("the kernel's end");
        if (warp.paths.all().size() > 1)
            text += fmt::format("{}threads 0x{:08x}", separator, path.mask), separator = "; ";
        text += fmt::format(" {} {}", path.state == State::ready && !for_phase ? "is at" : "waits at", what);
        if (for_phase) text += " (for the end of a barrier's phase)";
        if (path.state == State::block_barrier && path.barrier < machine_code::kBlockBarriers)
            text += fmt::format(" ({})",
                                describe(units_.barriers, blocks_[warp.block].barriers[path.barrier], path.barrier));
    }
    return text;
}

std::string SassEngine::operands_of(const ResidentWarp& resident) const {
    const Warp& warp = of(resident);
    constexpr std::uint32_t kAll = (1U << DependenceBarriers::kCount) - 1;
    return fmt::format("dependence barriers: released at cycle {:.0f}; memory accesses done at cycle {:.0f}",
                       warp.barriers.released(kAll, false, 0), warp.memory_done);
}

std::string SassEngine::failure(const Warp& warp, std::size_t at, int lane, const std::string& what) const {
    const Block& block = blocks_[warp.block];
    return fmt::format("launch of {}: {} by block ({}, {}, {}) thread {}: {}", shape_.name, what, block.coordinates[0],
                       block.coordinates[1], block.coordinates[2],
                       warp.in_block * kWarpSize + static_cast<std::uint32_t>(lane),
                       at < program_.steps.size() ? machine_code::text_of(program_, at)
                                                  : fmt::format("at {:#x}", at * sass::kInstructionBytes));
}

void SassEngine::fail(const Warp& warp, std::size_t at, int lane, const std::string& what) const {
    throw DeviceError(failure(warp, at, lane, what));
}

}  // namespace gputomo::sim
