// Block barriers, and instructions at which threads of one warp must be together.
#include "sim/exec/lanes.hpp"
#include "sim/sm/engine_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

bool waits_at(const Warp& warp, int number) {
    const auto& paths = warp.paths.all();
    return std::any_of(paths.begin(), paths.end(), [&](const WarpPath& p) { return p.barrier == number; });
}

std::uint32_t threads_in(std::uint32_t mask) { return static_cast<std::uint32_t>(std::popcount(mask)); }

}  // namespace

bool Engine::leave_unguarded(Warp& warp, std::uint32_t mask) {
    const auto pc = warp.paths.current().pc;
    if (!warp.paths.independent() || mask == warp.paths.current().mask) return false;
    return warp.paths.branch(mask, {.taken = pc, .not_taken = pc + 1, .reconverge = pc + 1});
}

Barrier& Engine::barrier_of(const Warp& warp, const Operation& op, std::uint32_t mask, int& number) {
    const int lane = std::countr_zero(mask);
    const auto operand = [&](std::size_t i) {
        return op.source[i] == kNoSlot
                   ? 0U
                   : as<std::uint32_t>(warp.registers[op.source[i]][static_cast<std::size_t>(lane)]);
    };
    auto& barriers = blocks_[warp.block].barriers;
    if (operand(0) >= barriers.size())
        fail(warp, op, lane, fmt::format("barrier {} of {}", operand(0), barriers.size()));
    number = static_cast<int>(operand(0));
    Barrier& barrier = barriers[operand(0)];
    const std::uint32_t threads = operand(1);
    if (op.source[1] == kNoSlot) return barrier;
    if (threads == 0 || threads % kWarpSize != 0)
        fail(warp, op, lane, fmt::format("a barrier of {} threads (expected a multiple of {})", threads, kWarpSize));
    const std::uint32_t expected = rules_.barrier_counts_threads ? threads : threads / kWarpSize;
    if (barrier.arrived != 0 && barrier.expected != expected)
        fail(
            warp, op, lane,
            fmt::format("barrier {} asked for {} threads while others wait there for another number", number, threads));
    barrier.expected = expected;
    return barrier;
}

void Engine::issue_barrier(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    if (mask == 0) return warp.paths.advance(warp.paths.current().pc + 1);
    if (leave_unguarded(warp, mask)) return;
    int number = 0;
    Barrier& barrier = barrier_of(warp, op, mask, number);
    const auto mode = static_cast<BarrierMode>(op.mode);
    barrier.arrived += rules_.barrier_counts_threads ? threads_in(mask) : 1;
    barrier.last_arrival = std::max(barrier.last_arrival, now);
    if (op.source[2] != kNoSlot) {
        for_lanes(mask, [&](int lane) { barrier.votes += read<bool>(op, warp.registers.data(), 2, lane) ? 1 : 0; });
        barrier.voters += threads_in(mask);
    }
    if (mode == BarrierMode::arrive)
        warp.paths.advance(warp.paths.current().pc + 1);
    else
        warp.paths.wait_at_barrier(number, mask);
    open_if_complete(blocks_[warp.block], number);
}

void Engine::open_complete_barriers(Block& block) {
    for (std::size_t number = 0; number < block.barriers.size(); ++number)
        open_if_complete(block, static_cast<int>(number));
}

void Engine::open_if_complete(Block& block, int number) {
    Barrier& barrier = block.barriers[static_cast<std::size_t>(number)];
    if (barrier.arrived == 0) return;
    std::uint32_t expected = barrier.expected;
    if (expected == 0)
        for (const auto index : block.warps)
            expected += rules_.barrier_counts_threads ? threads_in(warps_[index].paths.live()) : 1;
    if (barrier.arrived < expected) return;
    const Barrier complete = barrier;
    barrier = {};
    const double when = complete.last_arrival + rules_.barrier_latency;
    for (const auto index : block.warps)
        if (waits_at(warps_[index], number)) leave_barrier(warp_at(index), number, complete, when);
}

void Engine::leave_barrier(Warp& warp, int number, const Barrier& barrier, double when) {
    for (const auto& path : warp.paths.all()) {
        const Operation& op = program_.operations[path.pc - 1];
        if (path.barrier != number || op.destination == kNoSlot) continue;
        const auto mode = static_cast<BarrierMode>(op.mode);
        const std::uint64_t result = mode == BarrierMode::popc ? barrier.votes
                                     : mode == BarrierMode::and_
                                         ? static_cast<std::uint64_t>(barrier.votes == barrier.voters)
                                         : static_cast<std::uint64_t>(barrier.votes != 0);
        for_lanes(path.arrived,
                  [&](int lane) { warp.registers[op.destination][static_cast<std::size_t>(lane)] = result; });
        set_ready(warp, op, when);
    }
    warp.paths.release_barrier(number);
    warp.hold = std::max(warp.hold, when);
    prepare(warp, when);
    post(warp.scheduler);
}

// ---- within a warp -------------------------------------------------------------------------------------------------

std::uint32_t Engine::needed_members(const Warp& warp, const Operation& op, std::uint32_t mask) const {
    std::uint32_t needed = 0;
    for_lanes(mask, [&](int lane) {
        const auto members = as<std::uint32_t>(warp.registers[op.members][static_cast<std::size_t>(lane)]);
        if (((members >> lane) & 1) == 0)
            fail(warp, op, lane, fmt::format("a thread that is not in its own member mask 0x{:08x}", members));
        needed |= members;
    });
    return needed & warp.paths.live();
}

bool Engine::members_are_there(Warp& warp, const Operation& op, std::uint32_t mask) {
    const std::uint32_t missing = needed_members(warp, op, mask) & ~mask;
    if (missing == 0) return true;
    if (!warp.paths.independent())
        fail(warp, op, std::countr_zero(mask),
             fmt::format("members 0x{:08x} are not there, and without independent scheduling they cannot come;",
                         missing));
    if (!leave_unguarded(warp, mask)) warp.paths.wait_for_members();
    return false;
}

/// Unlike other .sync instructions the threads may come to different ones.
void Engine::issue_warp_barrier(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    if (mask == 0) return warp.paths.advance(warp.paths.current().pc + 1);
    const std::uint32_t needed = needed_members(warp, op, mask);
    std::uint32_t there = mask;
    for (const auto& path : warp.paths.all())
        if (path.awaits_members && program_.operations[path.pc].kind == Kind::warp_barrier) there |= path.mask & needed;
    if ((needed & ~there) != 0) {
        (void)members_are_there(warp, op, mask);
        return;
    }
    if (there != mask && leave_unguarded(warp, mask)) return;
    warp.hold = std::max(warp.hold, now + rules_.warp_barrier_latency);
    if (there == mask)
        warp.paths.advance(warp.paths.current().pc + 1);
    else
        warp.paths.release_members(there);
}

}  // namespace gputomo::sim
