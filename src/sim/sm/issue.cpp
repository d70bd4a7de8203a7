// What happens when a warp issues one instruction.
#include "sim/exec/lanes.hpp"
#include "sim/sm/engine_state.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gputomo::sim {

using ptx::SpecialRegister;

std::uint32_t Engine::active_lanes(const Warp& warp, const Operation& op) const {
    std::uint32_t mask = warp.paths.current().mask;
    if (op.guard == kNoSlot) return mask;
    std::uint32_t holds = 0;
    for_lanes(mask, [&](int lane) {
        holds |= static_cast<std::uint32_t>(warp.registers[op.guard][static_cast<std::size_t>(lane)] != 0) << lane;
    });
    return op.guard_negated ? mask & ~holds : mask & holds;
}

/// Between issue and unit an instruction rests for an issue slot, unless it comes late because another unit's
/// instruction took its slot: then the unit goes on without a gap. Throughput of operations that run on two units needs
/// this (Wong 2010, Table III).
double Engine::occupy_unit(const Warp& warp, const Operation& op, double now) {
    const Cost& cost = setup_.kernel.costs[op.cost];
    Scheduler& scheduler = schedulers_[warp.scheduler];
    const UnitUse* best = nullptr;
    for (const auto& use : cost.units)
        if (best == nullptr || unit_free(scheduler, use.unit) < unit_free(scheduler, best->unit)) best = &use;
    if (best != nullptr) {
        double& free = unit_free(scheduler, best->unit);
        free = std::max(free, now - rules_.issue_interval) + best->interval;
    }
    const auto at = static_cast<std::size_t>(&op - program_.operations.data());
    take_slots(scheduler, cost.issue_slots + operand_waits_[at], now);
    return warp.step + 1 == cost.steps ? cost.last_latency : cost.latency;
}

/// The scheduler issues nothing else for as many slots as one instruction takes.
void Engine::take_slots(Scheduler& scheduler, double slots, double now) const {
    scheduler.free = std::max(scheduler.free, now + slots * rules_.issue_interval);
}

void Engine::issue(std::uint32_t warp_index, double now) {
    Warp& warp = warp_at(warp_index);
    const Operation& op = operation_at(warp);
    const std::uint32_t mask = active_lanes(warp, op);
    ++counters_.warp_instructions;
    counters_.thread_instructions += static_cast<std::uint64_t>(std::popcount(mask));
    warp.hold = std::max(warp.hold, now);
    warp.gap = now + rules_.warp_interval;
    execute(warp, op, mask, now);
    if (warp.paths.finished()) {
        end_warp(warp_index, now);
    } else {
        prepare(warp, now);
    }
}

void Engine::execute(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    switch (op.kind) {
        case Kind::arithmetic: return issue_arithmetic(warp, op, mask, now);
        case Kind::special: return issue_special(warp, op, mask, now);
        case Kind::load:
        case Kind::store:
        case Kind::atomic: return issue_memory(warp, op, mask, now);
        case Kind::texture: return issue_texture(warp, op, mask, now);
        case Kind::branch: return issue_branch(warp, op, mask, now);
        case Kind::indexed_branch: return issue_indexed_branch(warp, op, mask, now);
        case Kind::barrier: return issue_barrier(warp, op, mask, now);
        case Kind::warp_barrier: return issue_warp_barrier(warp, op, mask, now);
        case Kind::exit: return issue_exit(warp, mask);
        case Kind::sleep: return issue_sleep(warp, op, mask, now);
        case Kind::trap:
            if (mask != 0) fail(warp, op, std::countr_zero(mask), "trap");
            break;
        case Kind::fence:  // prepare() held it until all accesses were done
        case Kind::nothing: break;
    }
    warp.paths.advance(warp.paths.current().pc + 1);
}

void Engine::issue_arithmetic(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    if (op.members != kNoSlot && mask != 0 && !members_are_there(warp, op, mask)) return;
    const double latency = occupy_unit(warp, op, now);
    if (warp.step + 1 < setup_.kernel.costs[op.cost].steps) {
        ++warp.step;
        warp.hold = now + latency;
        return;
    }
    warp.step = 0;
    if (mask != 0) {
        if (op.members == kNoSlot)
            op.execute(op, warp.registers.data(), mask);
        else
            compute_by_members(warp, op, mask);
    }
    const Cost& cost = setup_.kernel.costs[op.cost];
    set_ready(warp, op, now + latency + (in_both_halves(mask) ? cost.whole_warp : 0), cost.to_cores);
    warp.paths.advance(warp.paths.current().pc + 1);
}

/// Threads with different member masks are separate groups.
void Engine::compute_by_members(Warp& warp, const Operation& op, std::uint32_t mask) {
    const LaneValues& members = warp.registers[op.members];
    while (mask != 0) {
        const auto first = static_cast<std::uint32_t>(members[static_cast<std::size_t>(std::countr_zero(mask))]);
        const std::uint32_t group = mask & first;
        op.execute(op, warp.registers.data(), group);
        mask &= ~group;
    }
}

void Engine::issue_exit(Warp& warp, std::uint32_t mask) {
    if (mask == warp.paths.current().mask) return warp.paths.exit(mask);
    warp.paths.advance(warp.paths.current().pc + 1);
    warp.paths.exit(mask);
    open_complete_barriers(blocks_[warp.block]);
}

void Engine::issue_sleep(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    std::uint32_t longest = 0;
    const LaneValues& asked = warp.registers[op.source[0]];
    for_lanes(mask,
              [&](int lane) { longest = std::max(longest, as<std::uint32_t>(asked[static_cast<std::size_t>(lane)])); });
    warp.hold = std::max(warp.hold, now + longest * rules_.cycles_per_ns);
    warp.paths.advance(warp.paths.current().pc + 1);
}

void Engine::issue_special(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    for_lanes(mask, [&](int lane) {
        warp.registers[op.destination][static_cast<std::size_t>(lane)] = special_value(warp, op.special, lane, now);
    });
    const bool reads_clock = op.special == SpecialRegister::clock || op.special == SpecialRegister::clock64 ||
                             op.special == SpecialRegister::clock_hi;
    if (reads_clock) {
        warp.hold = std::max(warp.hold, now + rules_.clock_cost);
        set_ready(warp, op, now + rules_.clock_cost);
    } else {
        set_ready(warp, op, now + occupy_unit(warp, op, now));
    }
    warp.paths.advance(warp.paths.current().pc + 1);
}

std::uint64_t Engine::special_value(const Warp& warp, SpecialRegister which, int lane, double now) const {
    const Block& block = blocks_[warp.block];
    const auto& size = setup_.launch.block;
    const auto& grid = setup_.launch.grid;
    const std::uint32_t thread = warp.in_block * kWarpSize + static_cast<std::uint32_t>(lane);
    const auto bit = std::uint64_t{1} << lane;
    const auto clock = [&] {
        const std::int64_t count = setup_.clock_offsets[block.sm] + static_cast<std::int64_t>(std::floor(now));
        return static_cast<std::uint64_t>(count / rules_.clock_resolution * rules_.clock_resolution);
    };
    const auto nanoseconds = [&] { return static_cast<std::uint64_t>(setup_.start_ns + now / rules_.cycles_per_ns); };
    switch (which) {
        case SpecialRegister::tid_x: return thread % size.x;
        case SpecialRegister::tid_y: return thread / size.x % size.y;
        case SpecialRegister::tid_z: return thread / size.x / size.y;
        case SpecialRegister::ntid_x: return size.x;
        case SpecialRegister::ntid_y: return size.y;
        case SpecialRegister::ntid_z: return size.z;
        case SpecialRegister::ctaid_x: return block.coordinates[0];
        case SpecialRegister::ctaid_y: return block.coordinates[1];
        case SpecialRegister::ctaid_z: return block.coordinates[2];
        case SpecialRegister::nctaid_x: return grid.x;
        case SpecialRegister::nctaid_y: return grid.y;
        case SpecialRegister::nctaid_z: return grid.z;
        case SpecialRegister::laneid: return static_cast<std::uint64_t>(lane);
        case SpecialRegister::warpid: return warp.slot;
        case SpecialRegister::nwarpid:
            return static_cast<std::uint64_t>(setup_.machine.topology.max_threads_per_sm.value_or(1024) / kWarpSize);
        case SpecialRegister::smid: return block.sm;
        case SpecialRegister::nsmid: return sms_.size();
        case SpecialRegister::gridid: return 0;
        case SpecialRegister::lanemask_eq: return bit;
        case SpecialRegister::lanemask_le: return bit | (bit - 1);
        case SpecialRegister::lanemask_lt: return bit - 1;
        case SpecialRegister::lanemask_ge: return 0xFFFFFFFF & ~(bit - 1);
        case SpecialRegister::lanemask_gt: return 0xFFFFFFFF & ~(bit | (bit - 1));
        case SpecialRegister::clock: return clock() & 0xFFFFFFFF;
        case SpecialRegister::clock_hi: return clock() >> 32;
        case SpecialRegister::clock64: return clock();
        case SpecialRegister::globaltimer: return nanoseconds();
        case SpecialRegister::globaltimer_lo: return nanoseconds() & 0xFFFFFFFF;
        case SpecialRegister::globaltimer_hi: return nanoseconds() >> 32;
        case SpecialRegister::dynamic_smem_size:
            return static_cast<std::uint64_t>(setup_.launch.dynamic_shared.count());
        case SpecialRegister::total_smem_size: return shared_bytes_;
    }
    return 0;
}

void Engine::issue_branch(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    const double latency = occupy_unit(warp, op, now);
    const auto or_own = [latency](double described) { return described < 0 ? latency : described; };
    const auto pc = warp.paths.current().pc;
    const bool split = warp.paths.branch(mask, {.taken = op.target, .not_taken = pc + 1, .reconverge = op.reconverge});
    counters_.divergent_branches += split ? 1 : 0;
    double described = or_own(mask != 0 ? rules_.branch_taken : rules_.branch_untaken);
    if (split && rules_.divergence >= 0) described = or_own(rules_.branch_untaken) + rules_.divergence;
    warp.hold = std::max(warp.hold, now + described);
}

/// The threads that go where the first one goes branch; the others stay at this instruction and issue it again.
void Engine::issue_indexed_branch(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    const double latency = occupy_unit(warp, op, now);
    warp.hold = std::max(warp.hold, now + (rules_.branch_taken < 0 ? latency : rules_.branch_taken));
    if (mask == 0) return warp.paths.advance(warp.paths.current().pc + 1);
    const auto pc = warp.paths.current().pc;
    if (mask != warp.paths.current().mask) {  // first of all those whose guard is false leave
        (void)warp.paths.branch(mask, {.taken = pc, .not_taken = pc + 1, .reconverge = op.reconverge});
        return;
    }
    const auto choice = [&](int lane) {
        return as<std::uint32_t>(warp.registers[op.source[0]][static_cast<std::size_t>(lane)]);
    };
    const std::uint32_t first = choice(std::countr_zero(mask));
    if (first >= op.targets.size())
        fail(warp, op, std::countr_zero(mask), fmt::format("branch index {} of {}", first, op.targets.size()));
    std::uint32_t same = 0;
    for_lanes(mask, [&](int lane) { same |= static_cast<std::uint32_t>(choice(lane) == first) << lane; });
    if (warp.paths.branch(same, {.taken = op.targets[first], .not_taken = pc, .reconverge = op.reconverge}))
        ++counters_.divergent_branches;
}

}  // namespace gputomo::sim
