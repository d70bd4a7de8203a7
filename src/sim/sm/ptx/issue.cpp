// PTX: when a warp's next instruction can issue, and what happens when it does.
#include "sim/exec/lane_fault.hpp"
#include "sim/exec/lanes.hpp"
#include "sim/machine_code/refused_instruction.hpp"
#include "sim/sm/ptx/ptx_engine.hpp"
#include "sim/sm/ptx/warp_members.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

/// Threads with different member masks are separate groups.
void compute_by_members(const Operation& op, LaneValues* registers, std::uint32_t mask) {
    const LaneValues& members = registers[op.members];
    while (mask != 0) {
        const auto first = static_cast<std::uint32_t>(members[static_cast<std::size_t>(std::countr_zero(mask))]);
        const std::uint32_t group = mask & first;
        op.execute(op, registers, group);
        mask &= ~group;
    }
}

std::vector<std::byte> parameter_bytes(const Program& program, const device::Arguments& arguments) {
    std::vector<ParameterPlace> places;
    for (const auto& parameter : program.parameters) places.push_back({parameter.offset, parameter.size});
    return packed_parameters(program.name, places, program.parameter_bytes, arguments);
}

/// Loads past the SM's own cache, and atomics whose result is used.
bool returns_shared_state(const Operation& op) {
    if (op.space == ptx::Space::shared) return false;
    return op.bypass_near || (op.opcode == ptx::Opcode::atom && op.destination != kNoSlot);
}

KernelShape shape_of(const LoadedKernel& kernel, const machine::Machine& machine) {
    const Program& program = kernel.program;
    return {.name = program.name,
            .code_address = kernel.code_address,
            .code_bytes = program.operations.size() * instruction_bytes_of(machine),
            .static_shared = program.static_shared,
            .registers_per_thread = program.registers_per_thread,
            .max_threads = program.max_threads,
            .parameters = program.parameters.size(),
            .sees_other_blocks = std::ranges::any_of(program.operations, returns_shared_state)};
}

}  // namespace

LaunchTime run_launch(const LaunchSetup& setup, const LoadedKernel& kernel, Counters& counters) {
    return PtxEngine(setup, kernel, counters).run();
}

PtxEngine::PtxEngine(const LaunchSetup& setup, const LoadedKernel& kernel, Counters& counters)
    : Engine(setup, shape_of(kernel, setup.machine), counters),
      kernel_(kernel),
      program_(kernel.program),
      parameters_(parameter_bytes(program_, setup.launch.arguments)),
      divergence_(setup.machine.issue.divergence.value_or("stack") == "independent" ? Divergence::independent
                                                                                    : Divergence::stack),
      taken_first_(setup.machine.issue.first_path.value_or("taken") == "taken") {
    of_warps_.reserve(most_warps_);
    find_needs();
}

/// Constants never change, so a warp that was used before still has them in its registers.
ResidentWarp& PtxEngine::make_warp() {
    Warp& warp = of_warps_.emplace_back(divergence_, taken_first_);
    warp.registers.assign(program_.slots, LaneValues{});
    warp.local.resize(program_.local_bytes * kWarpSize);
    for (const auto& [slot, bits] : program_.constants) warp.registers[slot].fill(bits);
    return warp;
}

void PtxEngine::begin_warp(ResidentWarp& resident, std::uint32_t lanes, double now) {
    Warp& warp = of(resident);
    warp.paths.start(lanes, static_cast<std::uint32_t>(program_.operations.size()));
    std::fill(warp.registers.begin(), warp.registers.begin() + static_cast<std::ptrdiff_t>(program_.register_slots),
              LaneValues{});
    std::fill(warp.local.begin(), warp.local.end(), std::byte{0});
    reset(warp.scoreboard, program_.slots, now);
    warp.step = 0;
}

std::uint32_t PtxEngine::live_threads(const ResidentWarp& warp) const {
    return static_cast<std::uint32_t>(std::popcount(of(warp).paths.live()));
}

void PtxEngine::find_needs() {
    reads_ = operand_reads(program_);
    for (std::size_t at = 0; at < program_.operations.size(); ++at) {
        const Operation& op = program_.operations[at];
        const Cost& cost = kernel_.costs[op.cost];
        IssueNeeds needs{.on_cores = op.kind == Kind::arithmetic && cost.on_cores};
        if (!accesses_memory(op.kind))
            needs.resource = unit_set_of(units_.execution, cost);
        else if (op.space == ptx::Space::shared)
            needs.resource = kSharedBanks;
        needs_.push_back(needs);
    }
}

void PtxEngine::prepare(Warp& warp, double now) {
    Scheduler& scheduler = units_.schedulers[warp.scheduler];
    if (warp.paths.blocked()) {
        warp.earliest = scheduler.times[warp.position] = kNever;
        return;
    }
    const auto pc = warp.paths.current().pc;
    if (units_.fetch.spec.fetches) {
        const std::uint64_t address = kernel_.code_address + pc * units_.fetch.spec.instruction_bytes;
        warp.hold =
            std::max(warp.hold, fetch(units_.fetch, warp.buffer, {address, scheduler.sm, scheduler.number}, now));
    }
    const Operation& op = program_.operations[pc];
    const IssueNeeds& needs = needs_[pc];
    double when = operands_ready(warp.scoreboard, op.read_slots(), needs.on_cores, warp.hold);
    if (op.kind == Kind::fence) when = std::max(when, warp.scoreboard.memory_done);
    if (units_.operands.load_limit != 0 && op.kind == Kind::load)
        when = load_allowed(warp.scoreboard, units_.operands.load_limit, when);
    warp.earliest = when;
    scheduler.times[warp.position] = std::max(when, warp.gap);
    scheduler.resources[warp.position] = needs.resource;
}

/// A second instruction of the same warp issues in the same cycle where it depends on nothing that is in flight. Memory
/// instructions do not pair with each other (Volkov 2016, 3.8), and nothing pairs with control flow before it. A unit
/// that takes a warp in less than an issue interval takes both.
bool PtxEngine::can_pair(const Operation& first, const Warp& warp, double now) {
    const bool continues = first.kind == Kind::arithmetic || accesses_memory(first.kind);
    if (!continues || !warp.in_use || warp.step != 0 || warp.earliest > now) return false;
    const Operation& second = operation_at(warp);
    if (second.kind != Kind::arithmetic && second.kind != Kind::branch &&
        !(accesses_memory(second.kind) && !accesses_memory(first.kind)))
        return false;
    update_resources(warp.scheduler);
    const Scheduler& scheduler = units_.schedulers[warp.scheduler];
    return scheduler.available[scheduler.resources[warp.position]] < now + units_.scheduler_spec.issue_interval;
}

void PtxEngine::issue_next(std::uint32_t warp_index, double now) {
    const Operation* first = &operation_at(of_warps_[warp_index]);
    issue(warp_index, now);
    for (std::uint32_t width = 1;
         width < units_.scheduler_spec.issue_width && can_pair(*first, of_warps_[warp_index], now); ++width) {
        first = &operation_at(of_warps_[warp_index]);
        issue(warp_index, now);
    }
}

void PtxEngine::issue(std::uint32_t warp_index, double now) {
    Warp& warp = of_warps_[warp_index];
    const Operation& op = operation_at(warp);
    const std::uint32_t mask = active_lanes(op, warp.registers.data(), warp.paths.current().mask);
    ++counters_.warp_instructions;
    ++warp.issued;
    counters_.thread_instructions += thread_count(mask);
    warp.hold = std::max(warp.hold, now);
    warp.gap = now + units_.scheduler_spec.warp_interval;
    try {
        execute(warp, op, mask, now);
    } catch (const LaneFault& fault) {
        fail(warp, op, fault.lane(), fault.what());
    }
    if (warp.paths.finished()) {
        end_warp(warp_index, now);
    } else {
        prepare(warp, now);
    }
}

void PtxEngine::execute(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
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
            if (mask != 0) throw LaneFault(std::countr_zero(mask), "trap");
            break;
        case Kind::refused:
            if (mask != 0)
                throw RefusedInstruction(
                    failure(warp, op, std::countr_zero(mask),
                            fmt::format("an instruction that cannot be executed ({})", program_.refusals[op.refusal])));
            break;
        case Kind::fence:  // prepare() held it until all accesses were done
        case Kind::nothing: break;
    }
    warp.paths.advance(warp.paths.current().pc + 1);
}

double PtxEngine::occupy_unit(const Warp& warp, const Operation& op, double now) {
    const Cost& cost = kernel_.costs[op.cost];
    occupy(units_.execution, ports_of(warp.scheduler), cost, now);
    const auto at = static_cast<std::size_t>(&op - program_.operations.data());
    const double bubble = units_.register_ports[warp.scheduler].issue(reads_[at], warp.slot, now) - now;
    const double lost = bubble == 0 ? 0 : bubble / units_.scheduler_spec.issue_interval;  // most lose none: no division
    take_slots(units_.scheduler_spec, units_.schedulers[warp.scheduler], cost.issue_slots + lost, now);
    return warp.step + 1 == cost.steps ? cost.last_latency : cost.latency;
}

void PtxEngine::issue_arithmetic(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    if (op.members != kNoSlot && mask != 0 && !members_are_there(warp.paths, warp.registers[op.members], mask)) return;
    const double latency = occupy_unit(warp, op, now);
    const Cost& cost = kernel_.costs[op.cost];
    if (warp.step + 1 < cost.steps) {
        ++warp.step;
        warp.hold = now + latency;
        return;
    }
    warp.step = 0;
    if (mask != 0) {
        if (op.members == kNoSlot)
            op.execute(op, warp.registers.data(), mask);
        else
            compute_by_members(op, warp.registers.data(), mask);
    }
    write_back(warp.scoreboard, op.written_slots(), now + latency + (in_both_halves(mask) ? cost.whole_warp : 0),
               cost.to_cores);
    warp.paths.advance(warp.paths.current().pc + 1);
}

void PtxEngine::issue_exit(Warp& warp, std::uint32_t mask) {
    if (mask == warp.paths.current().mask) return warp.paths.exit(mask);
    warp.paths.advance(warp.paths.current().pc + 1);
    warp.paths.exit(mask);
    release_complete_barriers(blocks_[warp.block]);
}

void PtxEngine::issue_sleep(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    std::uint32_t longest = 0;
    const LaneValues& asked = warp.registers[op.source[0]];
    for_lanes(mask,
              [&](int lane) { longest = std::max(longest, as<std::uint32_t>(asked[static_cast<std::size_t>(lane)])); });
    warp.hold = std::max(warp.hold, now + longest * units_.clock.cycles_per_ns);
    warp.paths.advance(warp.paths.current().pc + 1);
}

void PtxEngine::issue_special(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    const WarpFacts facts = facts_of(warp, now);
    LaneValues& result = warp.registers[op.destination];
    for_lanes(mask, [&](int lane) {
        result[static_cast<std::size_t>(lane)] = special_value(op.special, lane, facts_, facts);
    });
    if (reads_clock(op.special)) {
        warp.hold = std::max(warp.hold, now + units_.clock.read_cost);
        write_back(warp.scoreboard, op.written_slots(), now + units_.clock.read_cost);
    } else {
        write_back(warp.scoreboard, op.written_slots(), now + occupy_unit(warp, op, now));
    }
    warp.paths.advance(warp.paths.current().pc + 1);
}

void PtxEngine::issue_branch(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    const double latency = occupy_unit(warp, op, now);
    const auto pc = warp.paths.current().pc;
    const bool diverged =
        warp.paths.branch(mask, {.taken = op.target, .not_taken = pc + 1, .reconverge = op.reconverge});
    counters_.divergent_branches += diverged ? 1 : 0;
    warp.hold =
        std::max(warp.hold, now + branch_latency(units_.branches, {.taken = mask != 0, .diverged = diverged}, latency));
}

/// The threads that go where the first one goes branch; the others stay at this instruction and issue it again.
void PtxEngine::issue_indexed_branch(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    const double latency = occupy_unit(warp, op, now);
    warp.hold = std::max(warp.hold, now + branch_latency(units_.branches, {.taken = true}, latency));
    if (mask == 0) return warp.paths.advance(warp.paths.current().pc + 1);
    const auto pc = warp.paths.current().pc;
    if (mask != warp.paths.current().mask) {  // those whose guard is false leave before all others
        (void)warp.paths.branch(mask, {.taken = pc, .not_taken = pc + 1, .reconverge = op.reconverge});
        return;
    }
    const auto choice = [&](int lane) {
        return as<std::uint32_t>(warp.registers[op.source[0]][static_cast<std::size_t>(lane)]);
    };
    const std::uint32_t first = choice(std::countr_zero(mask));
    if (first >= op.targets.size())
        throw LaneFault(std::countr_zero(mask), fmt::format("branch index {} of {}", first, op.targets.size()));
    std::uint32_t same = 0;
    for_lanes(mask, [&](int lane) { same |= static_cast<std::uint32_t>(choice(lane) == first) << lane; });
    if (warp.paths.branch(same, {.taken = op.targets[first], .not_taken = pc, .reconverge = op.reconverge}))
        ++counters_.divergent_branches;
}

}  // namespace gputomo::sim
