// PTX: where a warp is, for messages.
#include "sim/sm/ptx/ptx_engine.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

namespace gputomo::sim {

std::string PtxEngine::where(const Warp& warp, const WarpPath& path) const {
    const auto at = [&](std::uint32_t pc) {
        return fmt::format("line {}: {}", program_.operations[pc].line, program_.texts[pc]);
    };
    if (path.awaits_members)
        return fmt::format("waits at {} (for threads of its member mask that have not arrived)", at(path.pc));
    if (path.barrier < 0) return fmt::format("is at {}", at(path.pc));
    const Barrier& barrier = blocks_[warp.block].barriers[static_cast<std::size_t>(path.barrier)];
    return fmt::format("waits at {} ({})", at(path.pc - 1), describe(units_.barriers, barrier, path.barrier));
}

std::string PtxEngine::where(const ResidentWarp& resident) const {
    const Warp& warp = of(resident);
    std::string text = place_of(warp) + " ";
    if (!warp.paths.independent() || warp.paths.all().size() == 1) return text + where(warp, warp.paths.current());
    std::string_view separator;
    for (const auto& path : warp.paths.all()) {
        text += fmt::format("{}threads 0x{:08x} {}", separator, path.mask, where(warp, path));
        separator = "; ";
    }
    return text;
}

std::string PtxEngine::operands_of(const ResidentWarp& warp) const { return describe(of(warp).scoreboard); }

std::string PtxEngine::failure(const Warp& warp, const Operation& op, int lane, const std::string& what) const {
    const Block& block = blocks_[warp.block];
    return fmt::format("launch of {}: {} by block ({}, {}, {}) thread {} at line {}: {}", program_.name, what,
                       block.coordinates[0], block.coordinates[1], block.coordinates[2],
                       warp.in_block * kWarpSize + static_cast<std::uint32_t>(lane), op.line,
                       program_.texts[static_cast<std::size_t>(&op - program_.operations.data())]);
}

void PtxEngine::fail(const Warp& warp, const Operation& op, int lane, const std::string& what) const {
    throw DeviceError(failure(warp, op, lane, what));
}

}  // namespace gputomo::sim
