// Machine code: when a warp's next instruction can issue, and what happens when it does.
#include "costs/issue_slots.hpp"
#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/constant_place.hpp"
#include "sim/machine_code/deferred_barriers.hpp"
#include "sim/machine_code/launch_state.hpp"
#include "sim/machine_code/refused_instruction.hpp"
#include "sim/machine_code/stall_kind.hpp"
#include "sim/machine_code/warpgroup_shape.hpp"
#include "sim/sm/machine_code/sass_engine.hpp"
#include "sim/sm/machine_code/slots.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace gputomo::sim {
namespace {

using machine_code::Flow;
using machine_code::MachineProgram;
using sass::Class;
using sass::Operand;
using sass::OperandKind;

/// Instructions after which another path of a diverged warp gets its turn. Fewer make switching cost more, more make
/// threads that wait for one another in a loop take longer.
constexpr std::uint32_t kTurnOfPath = 2000;

std::vector<std::byte> parameter_bytes(const MachineProgram& program, const device::Arguments& arguments) {
    std::vector<ParameterPlace> places;
    for (const auto& parameter : program.parameters) places.push_back({parameter.offset, parameter.bytes});
    return packed_parameters(program.kernel, places, program.parameter_bytes, arguments);
}

/// Blocks of a cluster, as the launch says, or else the code.
device::Dim3 cluster_of(const MachineProgram& program, const device::Launch& launch) {
    if (launch.cluster) {
        const auto& [x, y, z] = *launch.cluster;
        if (x == 0 || y == 0 || z == 0)
            throw DeviceError(
                fmt::format("launch of {}: clusters of {}x{}x{} blocks; expected 1 or more in each "
                            "direction",
                            program.kernel, x, y, z));
        return *launch.cluster;
    }
    const auto& cluster = program.cluster;
    return cluster[0] == 0 ? device::Dim3{} : device::Dim3{cluster[0], cluster[1], cluster[2]};
}

KernelShape shape_of_code(const LoadedMachineCode& kernel, const device::Launch& launch) {
    const MachineProgram& program = kernel.program;
    const device::Dim3 cluster = cluster_of(program, launch);
    return {.name = program.kernel,
            .code_address = kernel.code_address,
            .code_bytes = program.steps.size() * sass::kInstructionBytes,
            .constants_address = kernel.bank_address[0],
            .constants_bytes = program.constants[0].size() * sizeof(std::uint32_t),
            .static_shared = program.shared_bytes - program.system_shared_bytes,
            .system_shared = program.system_shared_bytes,
            .registers_per_thread = program.registers,
            .max_threads = program.max_threads,
            .parameters = program.parameters.size(),
            .sees_other_blocks = sees_other_blocks(program) || cluster.count() > 1,
            .cluster = cluster};
}

SassKind kind_of(const machine_code::Step& step) {
    if (step.flow != Flow::next) return SassKind::flow;
    if (sass::waits_for_errors(step.instruction)) return SassKind::errors;
    if (sass::shows_shared_stores(step.instruction)) return SassKind::view;
    if (step.instruction.operation == sass::Operation::UTMACCTL) return SassKind::map;
    if (machine_code::forgets_near(step.instruction)) return SassKind::forget;
    switch (step.instruction.form->facts->what) {
        case Class::memory:
        case Class::shared_barrier: return SassKind::memory;
        case Class::texture: return SassKind::texture;
        case Class::bulk_copy: return SassKind::bulk_copy;
        case Class::bulk_group: return SassKind::bulk_group;
        case Class::constant: return SassKind::constant;
        case Class::copy: return SassKind::copy;
        case Class::copy_barrier: return SassKind::copy_barrier;
        case Class::fence: return SassKind::fence;
        case Class::wait: return SassKind::wait;
        case Class::sleep: return SassKind::sleep;
        default: return SassKind::compute;
    }
}

}  // namespace

LaunchTime run_launch(const LaunchSetup& setup, const LoadedMachineCode& kernel, Counters& counters,
                      costs::StallRecord& stalls) {
    std::vector<costs::StallKind> kinds;
    for (const auto& step : kernel.program.steps) kinds.push_back(machine_code::stall_kind_of(step));
    stalls = costs::StallRecord(std::move(kinds));
    return SassEngine(setup, kernel, counters, stalls).run();
}

// ---- dependence barriers -------------------------------------------------------------------------------------------

void DependenceBarriers::start(double now) {
    times_.fill(now);
    for_cores_.fill(now);
    steps_.fill(costs::kNoProducer);
    for (auto& each : each_) each.clear();
    open_.fill(0);
    waiting_ = 0;
}

void DependenceBarriers::add(std::size_t barrier, double when, double for_cores, std::uint32_t step) {
    constexpr std::size_t kMostKept = 64;  // a barrier counts to 63
    if (when >= times_[barrier]) steps_[barrier] = step;
    times_[barrier] = std::max(times_[barrier], when);
    for_cores_[barrier] = std::max(for_cores_[barrier], for_cores);
    auto& each = each_[barrier];
    if (each.size() == kMostKept) each.erase(each.begin());
    each.push_back(when);
}

double DependenceBarriers::at_most(std::size_t barrier, std::size_t left, double when) const {
    const auto& each = each_[barrier];
    if (open_[barrier] > left) return kNever;
    left -= open_[barrier];
    // Accesses complete in order as far as a count shows them: the one that completes last decides for those before it.
    for (std::size_t i = 0; i + left < each.size(); ++i) when = std::max(when, each[i]);
    return when;
}

// ---- warps ---------------------------------------------------------------------------------------------------------

SassEngine::SassEngine(const LaunchSetup& setup, const LoadedMachineCode& kernel, Counters& counters,
                       costs::StallRecord& stalls)
    : Engine(setup, shape_of_code(kernel, setup.launch), counters),
      kernel_(kernel),
      program_(kernel.program),
      stalls_(stalls),
      constants_(machine_code::constants_of(
          program_, {.grid = setup.launch.grid,
                     .block = setup.launch.block,
                     .cluster = shape_.cluster,
                     .parameters = parameter_bytes(program_, setup.launch.arguments),
                     .dynamic_shared = static_cast<std::uint64_t>(setup.launch.dynamic_shared.count()),
                     .sms = static_cast<std::uint32_t>(setup.machine.topology.sms.value_or(0)),
                     .grid_barrier = setup.grid_barrier})) {
    of_warps_.reserve(most_warps_);
    states_.resize(blocks_.capacity());
    barriers_complete_.resize(blocks_.capacity());
    waiters_.resize(blocks_.capacity());
    yield_latency_ = static_cast<double>(setup.machine.issue.yield_latency.value_or(0));
    fence_spec_ = costs::fence_spec_of(setup.machine);
    products_.resize(units_.schedulers.size());
    const costs::ConstantSpec constants = costs::constant_spec_of(setup.machine);
    constant_operands_.assign(units_.schedulers.size(), costs::ConstantOperands(constants));
    constant_line_ = constants.line_bytes;
    constants_wait_ = constants.described();
    for (auto* const free : {&between_free_, &arrival_free_}) free->assign(static_cast<std::size_t>(facts_.sms), 0.0);
    const auto& file = units_.operands.file;
    for (double& slots : units_.load_store.spec.path_slots) slots = costs::slots_beside_others(slots, file);
    units_.load_store.spec.shared_slots = costs::slots_beside_others(units_.load_store.spec.shared_slots, file);
    if (program_.uses_grid_barrier) counters_.waits_at = "the barrier of a cooperative grid";
    if (shape_.sees_other_blocks) {
        visible_ = machine_code::visible_accesses(program_);
        watches_.reserve(blocks_.capacity());
        while (watches_.size() < blocks_.capacity()) watches_.emplace_back(visible_);
    }
    const std::uint64_t block_shared = shape_.system_shared + shared_bytes_;
    if (!setup.computes_products && machine_code::multiplies_matrices(program_))
        while (unknown_.size() < blocks_.capacity()) unknown_.emplace_back(unknown_memory_, block_shared);
    find_needs();
    find_accesses();
    find_held();
    if (unknown_.empty() && sees_own_cache_beside_atomics()) views_.emplace(setup.memory_system, setup.memory);
}

void SassEngine::find_needs() {
    for (std::size_t at = 0; at < program_.steps.size(); ++at) {
        const Step& step = program_.steps[at];
        const sass::Instruction& instruction = step.instruction;
        const sass::Control& control = instruction.control;
        const Cost& cost = kernel_.costs.costs[kernel_.costs.cost_of[at]];
        SassNeeds needs{.kind = kind_of(step),
                        .stall = stall_cycles(instruction, setup_.machine.issue),
                        .wait = control.wait,
                        .write_barrier = control.write_barrier,
                        .read_barrier = control.read_barrier,
                        .on_cores = cost.on_cores};
        needs.constant = machine_code::constant_operand_of(instruction);
        needs.goes_on = needs.stall == 1;
        needs.passes_barriers = machine_code::passes_barriers(step);
        needs.defers_waiting = units_.barriers.defers && machine_code::defers_waiting(step);
        if (needs.kind == SassKind::fence) needs.fence = sass::fence_scope_of(instruction);
        needs.waits_for_group = machine_code::waits_for_group(step);
        needs.arrives_at_group = machine_code::arrives_at_group(step);
        needs.commits = machine_code::warpgroup::commits_products(instruction);
        if (needs.kind == SassKind::compute) {
            needs.slots = static_cast<float>(compute_slots(instruction, cost, units_.operands.file));
            needs.reads = operand_reads(instruction);
            needs.queues = machine_code::warpgroup::multiplies_warpgroup(instruction.operation);
            if (!cost.units.empty() && !needs.queues) {
                needs.resource = unit_set_of(units_.execution, cost);
                needs.results = arithmetic_results(instruction);
                if (needs.results > 0) note_arithmetic_unit(cost.units.front().unit);
            }
        } else if (instruction.form != nullptr && instruction.form->facts->accesses_shared()) {
            needs.resource = kSharedBanks;
        }
        std::size_t touched = 0;
        for (const Operand& operand : instruction.operands())
            if (operand.kind == OperandKind::reg && operand.reg != sass::kZeroRegister &&
                touched < needs.touched.size())
                needs.touched[touched++] = operand.reg;
        needs_.push_back(needs);
    }
    needs_.emplace_back();
}

ResidentWarp& SassEngine::make_warp() { return of_warps_.emplace_back(program_); }

void SassEngine::begin_warp(ResidentWarp& resident, std::uint32_t lanes, double now) {
    Warp& warp = of(resident);
    Block& block = blocks_[warp.block];
    machine_code::BlockState& state = states_[warp.block];
    if (warp.in_block == 0) {
        barriers_complete_[warp.block].clear();
        waiters_[warp.block].clear();
        if (!watches_.empty()) watches_[warp.block].start((setup_.launch.block.count() + kWarpSize - 1) / kWarpSize);
        const auto& threads = setup_.launch.block;
        state.program = &program_;
        state.constants = &constants_;
        state.global = &setup_.memory;
        state.textures = &setup_.textures;
        state.shared = block.shared;
        state.index = block.coordinates;
        state.block = {threads.x, threads.y, threads.z};
        state.sm = block.sm;
        state.warps_of_sm = static_cast<std::uint32_t>(facts_.warps_per_sm);
        state.printed = setup_.printed;
        state.near = views_ ? &*views_ : nullptr;
        state.resident = warp.block;
        if (!unknown_.empty()) {
            unknown_[warp.block].start(nullptr);
            state.observer = &unknown_[warp.block];
        }
        join_cluster(block, state);
    }
    state.cluster->live += static_cast<std::uint64_t>(std::popcount(lanes));
    warp.cluster_phase = 0;
    warp.held = 0;
    warp.waits_for_atomics = warp.waits_for_room = false;
    ++warp.started;
    warp.state.start(state, warp.in_block, lanes);
    warp.state.slot = warp.slot;
    if (!unknown_.empty()) unknown_[warp.block].start(warp.state);
    warp.paths.start(lanes);
    warp.barriers.start(now);
    warp.stored = warp.shared_stored = 0;
    warp.memory_done = warp.copies_done = warp.bulk_read = warp.bulk_done = now;
    warp.waits_for_phase = warp.stopped_behind = false;
    warp.behind = kNoBarrierBehind;
    warp.met = 0;
    warp.turn = 0;
    warp.running = lanes;
    warp.wait = {.since = now, .fixed = now};
}

std::uint32_t SassEngine::live_threads(const ResidentWarp& warp) const {
    return static_cast<std::uint32_t>(std::popcount(of(warp).paths.live()));
}

// ---- issue ---------------------------------------------------------------------------------------------------------

/// Warps of many SMs issue before this one, so that its registers have left the host's near caches. Without this,
/// waiting for them takes a quarter of the simulation's time.
void SassEngine::fetch_registers(const Warp& warp, const SassNeeds& needs) {
    constexpr std::size_t kHostLineWords = 16;
    for (const auto reg : needs.touched) {
        if (reg == sass::kZeroRegister) return;
        const std::uint32_t* const row = warp.state.registers[reg].data();
        for (std::size_t word = 0; word < kWarpSize; word += kHostLineWords) __builtin_prefetch(row + word);
    }
}

void SassEngine::prepare(Warp& warp, double now) {
    Scheduler& scheduler = units_.schedulers[warp.scheduler];
    const machine_code::Path* const path = warp.paths.current();
    if (path == nullptr || warp.waits_for_phase) {
        warp.earliest = scheduler.times[warp.position] = kNever;
        return;
    }
    const std::size_t at = std::min(path->step, program_.steps.size());
    costs::IssueWait& wait = warp.wait;
    wait.held = std::max(warp.hold, warp.gap);
    if (!needs_[at].passes_barriers && wait_behind_barrier(warp, at)) return;
    if (units_.fetch.spec.fetches) {
        const std::uint64_t address = kernel_.code_address + at * sass::kInstructionBytes;
        warp.hold =
            std::max(warp.hold, fetch(units_.fetch, warp.buffer, {address, scheduler.sm, scheduler.number}, now));
    }
    // Another path's instructions have to be fetched, as after a branch.
    if ((path->mask & warp.running) == 0) warp.hold = std::max(warp.hold, now + units_.branches.taken);
    warp.running = path->mask;
    const SassNeeds& needs = needs_[at];
    if (needs.waits_for_group && !machine_code::group_has_arrived(warp.state)) {
        warp.earliest = scheduler.times[warp.position] = kNever;
        return;
    }
    if (holds_atomics_ && wait_for_room(warp, at)) {
        warp.earliest = scheduler.times[warp.position] = kNever;
        return;
    }
    fetch_registers(warp, needs);
    double when = std::max(warp.hold, warp.gap);
    wait.fetched = when;
    wait.constants = when;
    const bool indexed = needs.constant.index != sass::kZeroUniformRegister;
    if (needs.constant.place != costs::kNoConstant && !indexed)
        wait.constants = when = constant_there(warp, needs.constant.place, when);
    if (needs.wait != 0) when = warp.barriers.released(needs.wait, needs.on_cores, when);
    if (indexed) {  // which line it is, the scheduler knows when the register is there
        const std::uint32_t place =
            costs::constant_behind(needs.constant.place, warp.state.uniforms[needs.constant.index]);
        const double there = constant_there(warp, place, when);
        wait.constants += there - when;
        when = there;
    }
    const bool for_all = needs.kind == SassKind::fence || needs.kind == SassKind::wait;
    warp.waits_for_atomics = warp.held > 0 && (when == kNever || for_all);
    if (warp.waits_for_atomics) {
        warp.earliest = scheduler.times[warp.position] = kNever;
        return;
    }
    wait.producer = when > std::max(wait.fetched, wait.constants) ? warp.barriers.last_of(needs.wait, needs.on_cores)
                                                                  : costs::kNoProducer;
    wait.fence = needs.kind == SassKind::fence && !fence_spec_.described;
    if (wait.fence) when = std::max(when, warp.memory_done);
    wait.ready = when;
    warp.earliest = scheduler.times[warp.position] = when;
    scheduler.resources[warp.position] = needs.resource;
}

void SassEngine::issue_next(std::uint32_t index, double now) {
    Warp& warp = of_warps_[index];
    const machine_code::Path& path = *warp.paths.current();
    const std::size_t at = path.step;
    if (at >= program_.steps.size()) fail(warp, at, std::countr_zero(path.mask), "execution behind the kernel's end");
    const Step& step = program_.steps[at];
    const SassNeeds& needs = needs_[at];
    warp.wait.chosen = now;
    warp.wait.unit_free =
        needs.resource == kNoResource ? 0 : units_.schedulers[warp.scheduler].available[needs.resource];
    now = read_operands(warp, needs, index, now);
    note_issue_of(warp, at, now);
    std::uint32_t mask = path.mask & warp.state.holds({step.guard.predicate, step.guard.uniform, step.guard.invert});
    if (!unknown_.empty()) mask = unknown_[warp.block].begin(warp.state, step, path.mask, mask);
    ++counters_.warp_instructions;
    ++warp.issued;
    counters_.thread_instructions += thread_count(mask);
    warp.hold = now + needs.stall;
    warp.gap = now + units_.scheduler_spec.warp_interval;
    try {
        execute(warp, step, at, mask, now);
    } catch (const LaneFault& fault) {
        fail(warp, at, fault.lane(), fault.what());
    }
    if (warp.paths.done()) return end_warp(index, now);
    if (warp.paths.all().size() > 1 && ++warp.turn >= kTurnOfPath) {
        warp.turn = 0;
        warp.paths.rotate();
    }
    prepare(warp, now);
}

/// Charges the time since the warp's last issue to what it waited for.
void SassEngine::note_issue_of(Warp& warp, std::size_t at, double now) {
    costs::IssueWait& wait = warp.wait;
    wait.step = static_cast<std::uint32_t>(at);
    wait.at = now;
    stalls_.issue(wait, units_.scheduler_spec.issue_interval);
    wait = {.before = wait.step,
            .since = now,
            .fixed = now + std::max<double>(needs_[at].stall, units_.scheduler_spec.warp_interval)};
}

double SassEngine::read_operands(const Warp& warp, const SassNeeds& needs, std::uint32_t index, double now) {
    Scheduler& scheduler = units_.schedulers[warp.scheduler];
    const double when = units_.register_ports[warp.scheduler].issue(needs.reads, index, now);
    // The bubble holds all warps of the scheduler back.
    if (when > now) scheduler.free = std::max(scheduler.free, when + units_.scheduler_spec.issue_interval);
    if (needs.goes_on) scheduler.preferred = warp.position;
    return when;
}

void SassEngine::execute(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now) {
    if (needs_[at].kind == SassKind::flow) {
        go(warp, step, at, mask, now);
        return follow_unknown(warp, at, mask);
    }
    warp.paths.current()->step = at + 1;
    if (mask == 0) return;
    if (step.reads_clock) {
        const WarpFacts facts = facts_of(warp, now);
        warp.state.block->clock = facts.clock;
        warp.state.block->nanoseconds = facts.nanoseconds;
    }
    if (views_) views_->select(units_.schedulers[warp.scheduler].sm, units_.schedulers[warp.scheduler].number);
    if (holds_atomics_) {
        if (held_[at]) return hold(warp, step, at, mask, now);
        // Later accesses of a warp to the same address come behind its atomics.
        if (warp.held > 0 && reaches_memory(at)) perform_of(warp);
        if (held_loads_[at] && waiting_requests_ > 0) {
            mask = hold_load(warp, step, at, mask, now);
            if (mask == 0) return;
        }
    }
    // A uniform instruction is performed once, and its guard holds for all lanes or none.
    step.execute(warp.state, step, step.uniform ? 1U : mask);
    follow_unknown(warp, at, step.uniform ? machine_code::kAllLanes : mask);
    if (!watches_.empty()) watch(warp, step, at, step.uniform ? 1U : mask);
    switch (needs_[at].kind) {
        case SassKind::memory: (void)access_memory(warp, at, mask, now); return;
        case SassKind::constant:
            // A scheduler that has waited for a line of the launch's bank asks no other cache.
            if (constants_wait_ && needs_[at].constant.place < costs::kBankBytes) return;
            return access_constant(warp, step, at, mask, now);
        case SassKind::copy: return copy_async(warp, step, at, mask, now);
        case SassKind::bulk_copy: return copy_bulk(warp, at, now);
        case SassKind::bulk_group: return complete(warp, at, std::max(now, warp.bulk_read), warp.bulk_done);
        case SassKind::texture: return fetch_texture(warp, at, mask, now);
        case SassKind::copy_barrier: return complete(warp, at, now, warp.copies_done);
        case SassKind::wait: return wait_for_barriers(warp, step, now);
        case SassKind::fence: return wait_at_fence(warp, needs_[at].fence, now);
        case SassKind::view: {
            const double end = std::max(now, warp.shared_stored) + fence_spec_.view;
            return complete(warp, at, end, end);
        }
        case SassKind::forget:
            setup_.memory_system.forget_near(PathKind::global, units_.schedulers[warp.scheduler].sm,
                                             units_.schedulers[warp.scheduler].number);
            return compute(warp, step, at, mask, now);
        case SassKind::map: return fetch_map(warp, step, now);
        case SassKind::errors: warp.hold = std::max(warp.hold, now + fence_spec_.errors); return;
        case SassKind::sleep: {
            // The phase that the warp asked for ends this sleep, and its time is the most that it may take. Here the
            // warp asks again.
            if (step.instruction.value(sass::Modifier::sleep_syncs) != 0) return;
            const machine_code::View asked = warp.state.view(step, 0);
            std::uint32_t longest = 0;
            for_lanes(mask, [&](int lane) { longest = std::max(longest, asked[lane]); });
            warp.hold = std::max(warp.hold, now + longest * units_.clock.cycles_per_ns);
            return;
        }
        default: return compute(warp, step, at, mask, now);
    }
}

/// The instruction has been executed: its results are known or not.
void SassEngine::follow_unknown(Warp& warp, std::size_t at, std::uint32_t mask) {
    if (unknown_.empty()) return;
    const Step& step = program_.steps[at];
    // How long a warp sleeps is read later.
    if (needs_[at].kind == SassKind::sleep) (void)warp.state.view(step, 0);
    unknown_[warp.block].end(warp.state, step, mask);
}

void SassEngine::complete(Warp& warp, std::size_t at, double read, double written, double later_for_cores) {
    const SassNeeds& needs = needs_[at];
    if (needs.write_barrier != sass::kNoBarrier)
        warp.barriers.add(needs.write_barrier, written, written + later_for_cores, static_cast<std::uint32_t>(at));
    if (needs.read_barrier != sass::kNoBarrier)
        warp.barriers.add(needs.read_barrier, read, read, static_cast<std::uint32_t>(at));
}

void SassEngine::arrive_at_group(const Warp& warp, double now) {
    constexpr std::uint32_t kWarpsOfGroup = 4;
    for (const auto index : blocks_[warp.block].warps) {
        Warp& other = of_warps_[index];
        const machine_code::Path* const path = &other == &warp ? nullptr : other.paths.current();
        if (path != nullptr && other.in_block / kWarpsOfGroup == warp.in_block / kWarpsOfGroup &&
            needs_[std::min(path->step, program_.steps.size())].waits_for_group)
            wake(other, now);
    }
}

void SassEngine::queue_product(Warp& warp, std::size_t at, double now) {
    const Cost& cost = kernel_.costs.costs[kernel_.costs.cost_of[at]];
    double start = now;
    if (!cost.units.empty()) {
        const UnitUse& use = cost.units.front();
        double& free = ports_of(warp.scheduler).free(units_.execution, use.unit);
        start = std::max(now, free);
        free = start + use.interval;
        if (cost.beside > 0) products_[warp.scheduler].add(free, cost.beside);
    }
    const double done = start + cost.last_latency;
    complete(warp, at, done, done);
    // Products of a warp end in order, so that the last one of a group ends the group.
    if (needs_[at].commits) warp.barriers.add(costs::kProductGroups, done, done, static_cast<std::uint32_t>(at));
}

void SassEngine::note_arithmetic_unit(std::uint16_t unit) {
    if (units_.execution.of_sm[unit] == 0 && std::ranges::find(arithmetic_units_, unit) == arithmetic_units_.end())
        arithmetic_units_.push_back(unit);
}

void SassEngine::hold_arithmetic_back(std::uint32_t scheduler, std::uint8_t results, double now) {
    const double next = products_[scheduler].next(now, results);
    if (next <= now) return;
    const UnitPorts ports = ports_of(scheduler);
    for (const auto unit : arithmetic_units_) ports.own[unit] = std::max(ports.own[unit], next);
}

void SassEngine::compute(Warp& warp, const Step& step, std::size_t at, std::uint32_t, double now) {
    const SassNeeds& needs = needs_[at];
    if (needs.arrives_at_group) arrive_at_group(warp, now);
    if (needs.queues) return queue_product(warp, at, now);
    const Cost& cost = kernel_.costs.costs[kernel_.costs.cost_of[at]];
    const double values = std::exchange(warp.state.block->further_values, 0);
    const double longer = values * cost.value_interval;
    if (needs.resource != kNoResource) occupy(units_.execution, ports_of(warp.scheduler), cost, now, longer);
    if (needs.results > 0) hold_arithmetic_back(warp.scheduler, needs.results, now);
    const auto slots = static_cast<double>(needs.slots);
    if (slots > 1) take_slots(units_.scheduler_spec, units_.schedulers[warp.scheduler], slots, now);
    if (step.reads_clock) warp.hold = std::max(warp.hold, now + units_.clock.read_cost);
    // A unit has read its operands when it has taken the whole warp.
    const double taken =
        now + (cost.units.empty() ? units_.scheduler_spec.issue_interval : cost.units.front().interval);
    complete(warp, at, taken + longer, now + cost.last_latency + values * cost.value_latency, cost.to_cores);
}

void SassEngine::go(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now) {
    if (mask == 0) {
        warp.paths.current()->step = at + 1;
        return;
    }
    if (step.flow == Flow::refused)
        throw RefusedInstruction(
            fmt::format("{}; report this instruction",
                        failure(warp, at, std::countr_zero(mask),
                                fmt::format("an instruction that cannot be executed ({})", step.refusal))));
    if (step.flow == Flow::trap) fail(warp, at, std::countr_zero(mask), "trap");
    const std::uint32_t taken = machine_code::taken_lanes(warp.state, step, mask);
    if (step.flow == Flow::block_barrier && warp.held > 0) perform_of(warp);
    if (step.flow == Flow::block_barrier) return meet_block(warp, step, at, taken, now);
    if (step.flow == Flow::cluster_arrive || step.flow == Flow::cluster_wait)
        return meet_cluster(warp, step, at, taken, now);
    const std::size_t paths = warp.paths.all().size();
    const bool moved = machine_code::follow(warp.state, warp.paths, step, at, taken);
    if (step.flow == Flow::exit) {
        machine_code::ClusterState& cluster = *warp.state.block->cluster;
        cluster.live -= static_cast<std::uint64_t>(std::popcount(taken));
        release_cluster(cluster, now);
        if (!warp.paths.done()) release_complete_barriers(blocks_[warp.block]);
        return;
    }
    if (warp.paths.all().size() > paths && step.flow == Flow::branch) ++counters_.divergent_branches;
    const Cost& cost = kernel_.costs.costs[kernel_.costs.cost_of[at]];  // of a branch through a register
    if (const double latency = std::max(units_.branches.taken, cost.last_latency); moved && latency > 0)
        warp.hold = std::max(warp.hold, now + latency);
    // A warp that joins again is fetched anew: what `control_flow` times as an untaken branch ends in a BSYNC.
    if (step.flow == Flow::converge && units_.branches.untaken > 0)
        warp.hold = std::max(warp.hold, now + units_.branches.untaken);
    // A warp that yields asks its other threads, too, and comes back where they wait.
    if (step.flow == Flow::yield && warp.paths.all().size() > 1)
        warp.hold = std::max(warp.hold, now + 2 * yield_latency_);
    if (step.flow == Flow::warp_barrier) warp.hold = std::max(warp.hold, now + units_.barriers.warp_latency);
}

std::vector<std::uint64_t> SassEngine::issued_by_place() const {
    std::vector<std::uint64_t> issued;
    for (const auto& instruction : stalls_.instructions()) issued.push_back(instruction.issued);
    return issued;
}

}  // namespace gputomo::sim
