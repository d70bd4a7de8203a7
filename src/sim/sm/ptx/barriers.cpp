// PTX: block barriers and bar.warp.sync.
#include "sim/exec/lane_fault.hpp"
#include "sim/exec/lanes.hpp"
#include "sim/sm/ptx/ptx_engine.hpp"
#include "sim/sm/ptx/warp_members.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

std::uint32_t threads_in(std::uint32_t mask) { return static_cast<std::uint32_t>(std::popcount(mask)); }

/// The barrier that the first lane names; the others name the same one. Throws LaneFault for a wrong barrier or number
/// of threads.
int barrier_number(const BarrierSpec& spec, BlockBarriers& barriers, const WarpInstruction& instruction) {
    const Operation& op = instruction.op;
    const int lane = std::countr_zero(instruction.mask);
    const auto operand = [&](std::size_t i) {
        return op.source[i] == kNoSlot
                   ? 0U
                   : as<std::uint32_t>(instruction.registers[op.source[i]][static_cast<std::size_t>(lane)]);
    };
    const std::uint32_t number = operand(0);
    if (number >= barriers.size())
        throw LaneFault(lane, fmt::format("barrier {} named; expected one below {}", number, barriers.size()));
    if (op.source[1] != kNoSlot)
        if (const auto wrong = expect_threads(spec, barriers[number], operand(1)); !wrong.empty())
            throw LaneFault(lane, fmt::format("barrier {}: {}", number, wrong));
    return static_cast<int>(number);
}

}  // namespace

void PtxEngine::issue_barrier(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    if (mask == 0) return warp.paths.advance(warp.paths.current().pc + 1);
    if (leave_unguarded(warp.paths, mask)) return;
    Block& block = blocks_[warp.block];
    const int number = barrier_number(units_.barriers, block.barriers, {op, warp.registers.data(), mask});
    Barrier& barrier = block.barriers[static_cast<std::size_t>(number)];
    arrive(units_.barriers, barrier, threads_in(mask), now);
    if (op.source[2] != kNoSlot) {
        for_lanes(mask, [&](int lane) { barrier.votes += read<bool>(op, warp.registers.data(), 2, lane) ? 1 : 0; });
        barrier.voters += threads_in(mask);
    }
    if (static_cast<BarrierMode>(op.mode) == BarrierMode::arrive)
        warp.paths.advance(warp.paths.current().pc + 1);
    else
        warp.paths.wait_at_barrier(number, mask);
    release_if_complete(block, number);
}

void PtxEngine::leave_barrier(ResidentWarp& resident, int number, const BarrierRelease& release) {
    Warp& warp = of(resident);
    bool waits = false;
    for (const auto& path : warp.paths.all()) {
        if (path.barrier != number) continue;
        waits = true;
        const Operation& op = program_.operations[path.pc - 1];
        if (op.destination == kNoSlot) continue;
        const auto result = barrier_vote(static_cast<BarrierMode>(op.mode), release.votes, release.voters);
        for_lanes(path.arrived,
                  [&](int lane) { warp.registers[op.destination][static_cast<std::size_t>(lane)] = result; });
        write_back(warp.scoreboard, op.written_slots(), release.when);
    }
    if (!waits) return;
    warp.paths.release_barrier(number);
    warp.hold = std::max(warp.hold, release.when);
    wake(warp, release.when);
}

/// Unlike at other .sync instructions, the threads of a warp may be at different bar.warp.sync instructions.
void PtxEngine::issue_warp_barrier(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    if (mask == 0) return warp.paths.advance(warp.paths.current().pc + 1);
    const LaneValues& members = warp.registers[op.members];
    const std::uint32_t needed = needed_members(warp.paths, members, mask);
    std::uint32_t there = mask;
    for (const auto& path : warp.paths.all())
        if (path.awaits_members && program_.operations[path.pc].kind == Kind::warp_barrier) there |= path.mask & needed;
    if ((needed & ~there) != 0) {
        (void)members_are_there(warp.paths, members, mask);
        return;
    }
    if (there != mask && leave_unguarded(warp.paths, mask)) return;
    warp.hold = std::max(warp.hold, now + units_.barriers.warp_latency);
    if (there == mask)
        warp.paths.advance(warp.paths.current().pc + 1);
    else
        warp.paths.release_members(there);
}

}  // namespace gputomo::sim
