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
    for_lanes(mask, [&](int lane) { holds |= static_cast<std::uint32_t>(warp.registers[op.guard][static_cast<std::size_t>(lane)] != 0) << lane; });
    return op.guard_negated ? mask & ~holds : mask & holds;
}

double Engine::occupy_unit(Warp& warp, const Operation& op, double now) {
    const Cost& cost = setup_.kernel.costs[op.cost];
    Scheduler& scheduler = schedulers_[warp.scheduler];
    const UnitUse* best = nullptr;
    for (const auto& use : cost.units)
        if (best == nullptr || scheduler.unit_free[use.unit] < scheduler.unit_free[best->unit]) best = &use;
    if (best != nullptr) {
        double& free = scheduler.unit_free[best->unit];
        free = std::max(free, now) + best->interval;
    }
    return warp.step + 1 == cost.steps ? cost.last_latency : cost.latency;
}

void Engine::issue(std::uint32_t warp_index, double now) {
    Warp& warp = warp_at(warp_index);
    const Operation& op = program_.operations[warp.paths.current().pc];
    const std::uint32_t mask = active_lanes(warp, op);
    ++counters_.warp_instructions;
    counters_.thread_instructions += static_cast<std::uint64_t>(std::popcount(mask));
    const bool width_left = schedulers_[warp.scheduler].width_used < rules_.issue_width;
    warp.next_issue = width_left ? now : now + std::max(rules_.issue_interval, rules_.ilp_latency);
    switch (op.kind) {
        case Kind::arithmetic: issue_arithmetic(warp, op, mask, now); break;
        case Kind::special: issue_special(warp, op, mask, now); break;
        case Kind::load:
        case Kind::store:
        case Kind::atomic: issue_memory(warp, op, mask, now); break;
        case Kind::texture: issue_texture(warp, op, mask, now); break;
        case Kind::branch:
        case Kind::indexed_branch: issue_branch(warp, op, mask, now); break;
        case Kind::barrier: issue_barrier(warp_index, op, mask, now); break;
        case Kind::exit:
            if (mask != warp.paths.current().mask) {
                const std::uint32_t leaving = mask;
                warp.paths.advance(warp.paths.current().pc + 1);
                warp.paths.exit(leaving);
                for (std::uint32_t b = 0; b < blocks_[warp.block].barriers.size(); ++b) open_if_complete(blocks_[warp.block], b);
            } else {
                warp.paths.exit(mask);
            }
            break;
        case Kind::trap:
            if (mask != 0) fail(warp, op, std::countr_zero(mask), "trap");
            warp.paths.advance(warp.paths.current().pc + 1);
            break;
        case Kind::nothing: warp.paths.advance(warp.paths.current().pc + 1); break;
    }
    if (warp.paths.finished()) {
        end_warp(warp_index, now);
    } else {
        prepare(warp_at(warp_index), now);
    }
}

void Engine::issue_arithmetic(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    const double latency = occupy_unit(warp, op, now);
    if (warp.step + 1 < setup_.kernel.costs[op.cost].steps) {
        ++warp.step;
        warp.next_issue = now + latency;
        return;
    }
    warp.step = 0;
    if (mask != 0) op.execute(op, warp.registers.data(), mask);
    set_ready(warp, op.destination, now + latency);
    set_ready(warp, op.destination2, now + latency);
    warp.paths.advance(warp.paths.current().pc + 1);
}

void Engine::issue_special(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    for_lanes(mask, [&](int lane) { warp.registers[op.destination][static_cast<std::size_t>(lane)] = special_value(warp, op.special, lane, now); });
    const bool reads_clock = op.special == SpecialRegister::clock || op.special == SpecialRegister::clock64 || op.special == SpecialRegister::clock_hi;
    if (reads_clock) {
        warp.next_issue = std::max(warp.next_issue, now + rules_.clock_cost);
        set_ready(warp, op.destination, now + rules_.clock_cost);
    } else {
        set_ready(warp, op.destination, now + occupy_unit(warp, op, now));
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
    const auto nanoseconds = [&] { return static_cast<std::uint64_t>(setup_.start_ns + now * 1e3 / *setup_.machine.clock.sm_mhz); };
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
        case SpecialRegister::warpid: return warp.in_block;
        case SpecialRegister::nwarpid: return static_cast<std::uint64_t>(setup_.machine.topology.max_threads_per_sm.value_or(1024) / kWarpSize);
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
        case SpecialRegister::dynamic_smem_size: return static_cast<std::uint64_t>(setup_.launch.dynamic_shared.count());
        case SpecialRegister::total_smem_size: return shared_bytes_;
    }
    return 0;
}

void Engine::issue_branch(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    warp.next_issue = std::max(warp.next_issue, now + occupy_unit(warp, op, now));
    if (op.kind == Kind::branch) {
        if (warp.paths.branch(mask, op.target, op.reconverge)) ++counters_.divergent_branches;
        return;
    }
    if (mask == 0) return warp.paths.advance(warp.paths.current().pc + 1);
    // The threads that go where the first one goes branch; the others stay at this instruction and issue it again.
    const auto choice = [&](int lane) { return as<std::uint32_t>(warp.registers[op.source[0]][static_cast<std::size_t>(lane)]); };
    const std::uint32_t first = choice(std::countr_zero(mask));
    if (first >= op.targets.size()) fail(warp, op, std::countr_zero(mask), fmt::format("branch index {} of {}", first, op.targets.size()));
    std::uint32_t same = 0;
    for_lanes(mask, [&](int lane) { same |= static_cast<std::uint32_t>(choice(lane) == first) << lane; });
    if (same == warp.paths.current().mask) return warp.paths.advance(op.targets[first]);
    fail(warp, op, std::countr_zero(mask), "an indexed branch whose threads go different ways cannot be simulated yet");
}

void Engine::issue_barrier(std::uint32_t warp_index, const Operation& op, std::uint32_t mask, double now) {
    Warp& warp = warp_at(warp_index);
    if (mask == 0) return warp.paths.advance(warp.paths.current().pc + 1);
    const auto lane = static_cast<std::size_t>(std::countr_zero(mask));
    const auto number = op.source[0] == kNoSlot ? 0U : as<std::uint32_t>(warp.registers[op.source[0]][lane]);
    Block& block = blocks_[warp.block];
    if (number >= block.barriers.size()) fail(warp, op, static_cast<int>(lane), fmt::format("barrier {} of {}", number, block.barriers.size()));
    Barrier& barrier = block.barriers[number];
    if (op.source[1] != kNoSlot) {
        const auto threads = as<std::uint32_t>(warp.registers[op.source[1]][lane]);
        barrier.expected = rules_.barrier_counts_threads ? threads : (threads + kWarpSize - 1) / kWarpSize;
    }
    barrier.arrived += rules_.barrier_counts_threads ? static_cast<std::uint32_t>(std::popcount(mask)) : 1;
    barrier.last_arrival = std::max(barrier.last_arrival, now);
    warp.barrier = static_cast<int>(number);
    warp.paths.wait_at_barrier();
    open_if_complete(block, number);
}

void Engine::open_if_complete(Block& block, std::uint32_t number) {
    Barrier& barrier = block.barriers[number];
    if (barrier.arrived == 0) return;
    std::uint32_t expected = barrier.expected;
    if (expected == 0)
        for (const auto index : block.warps)
            expected += rules_.barrier_counts_threads ? static_cast<std::uint32_t>(std::popcount(warps_[index].paths.live())) : 1;
    if (barrier.arrived < expected) return;
    const double when = barrier.last_arrival + rules_.barrier_latency;
    barrier = {};
    for (const auto index : block.warps) {
        Warp& warp = warp_at(index);
        if (warp.barrier != static_cast<int>(number)) continue;
        warp.barrier = -1;
        warp.paths.release_barrier();
        warp.next_issue = std::max(warp.next_issue, when);
        prepare(warp, when);
        post(warp.scheduler);
    }
}

}  // namespace gputomo::sim
