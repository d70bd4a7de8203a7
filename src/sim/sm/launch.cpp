// How a launch begins: what fits on an SM, arguments, blocks and their warps.
#include "sim/memory/description.hpp"
#include "sim/sm/engine_state.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gputomo::sim {
namespace {

constexpr std::int64_t kDefaultThreadsPerSm = 1024;
constexpr std::int64_t kDefaultBlocksPerSm = 8;

std::uint64_t rounded_up(std::uint64_t value, const machine::Integer& unit) {
    const auto u = static_cast<std::uint64_t>(std::max<std::int64_t>(1, unit.value_or(1)));
    return (value + u - 1) / u * u;
}

std::vector<std::byte> packed_parameters(const Program& program, const device::Arguments& arguments) {
    if (arguments.offsets().size() != program.parameters.size())
        throw DeviceError(fmt::format("launch of {}: {} arguments given; expected {}", program.name,
                                      arguments.offsets().size(), program.parameters.size()));
    std::vector<std::byte> bytes(program.parameter_bytes);
    const auto given = arguments.bytes();
    for (std::size_t i = 0; i < program.parameters.size(); ++i) {
        const auto& parameter = program.parameters[i];
        const std::size_t from = arguments.offsets()[i];
        const std::size_t end = i + 1 < arguments.offsets().size() ? arguments.offsets()[i + 1] : given.size();
        if (end - from < parameter.size)
            throw DeviceError(fmt::format("launch of {}: argument {} has {} bytes; expected {}", program.name, i,
                                          end - from, parameter.size));
        std::memcpy(bytes.data() + parameter.offset, given.data() + from, parameter.size);
    }
    return bytes;
}

/// Bytes of shared memory that a block takes of its SM (Volkov 2016, 5.7).
std::uint64_t shared_taken(const machine::SharedMemory& shared, const BlockNeeds& needs) {
    const auto overhead = static_cast<std::uint64_t>(shared.block_overhead.value_or(0)) +
                          static_cast<std::uint64_t>(shared.argument_overhead.value_or(0)) * needs.arguments;
    return rounded_up(needs.shared_bytes + overhead, shared.allocation_unit);
}

/// Blocks whose registers fit an SM, in steps of allocation: registers of a thread, threads of a block, whole warps
/// within one part of the file.
std::uint64_t blocks_by_registers(const machine::Topology& topology, const BlockNeeds& needs) {
    const auto per_warp = kWarpSize * rounded_up(static_cast<std::uint64_t>(needs.registers_per_thread),
                                                 topology.register_allocation_unit);
    if (!topology.registers_per_sm || per_warp == 0) return ~std::uint64_t{0};
    const auto parts = static_cast<std::uint64_t>(topology.register_partitions.value_or(1));
    const auto warps = static_cast<std::uint64_t>(*topology.registers_per_sm) / parts / per_warp * parts;
    const auto whole_warps = (needs.threads + kWarpSize - 1) / kWarpSize * kWarpSize;
    const auto warps_of_block = (rounded_up(whole_warps, topology.thread_allocation_unit) + kWarpSize - 1) / kWarpSize;
    return warps / warps_of_block;
}

}  // namespace

Residency resident_blocks(const machine::Machine& machine, const BlockNeeds& needs) {
    const auto& topology = machine.topology;
    Residency result;
    const auto refuse = [&](std::uint64_t asked, const machine::Integer& most, std::string_view what) {
        if (most && asked > static_cast<std::uint64_t>(*most) && result.why.empty())
            result.why = fmt::format("{} {} asked; the limit is {}", asked, what, *most);
    };
    const std::uint64_t by_registers = needs.threads == 0 ? 0 : blocks_by_registers(topology, needs);
    if (needs.threads == 0) result.why = "0 threads per block asked";
    refuse(needs.threads, topology.max_threads_per_block, "threads per block");
    const auto& shared = machine.shared;
    refuse(needs.shared_bytes, shared.max_per_block ? shared.max_per_block : shared.capacity,
           "bytes of shared memory per block");
    if (by_registers == 0 && result.why.empty())
        result.why = fmt::format("{} threads of {} registers asked; the SM has {} registers", needs.threads,
                                 needs.registers_per_thread, *topology.registers_per_sm);
    if (!result.why.empty()) return result;
    std::uint64_t blocks =
        std::min(by_registers, static_cast<std::uint64_t>(topology.max_blocks_per_sm.value_or(kDefaultBlocksPerSm)));
    const auto limit = [&](std::uint64_t each, const machine::Integer& all) {
        if (each != 0 && all) blocks = std::min(blocks, static_cast<std::uint64_t>(*all) / each);
    };
    const auto warps = (needs.threads + kWarpSize - 1) / kWarpSize;
    limit(warps * kWarpSize,
          topology.max_threads_per_sm ? topology.max_threads_per_sm : topology.max_threads_per_block);
    const auto each = shared_taken(shared, needs);
    limit(each, shared.capacity);
    result.blocks = static_cast<std::uint32_t>(std::max<std::uint64_t>(blocks, 1));
    result.shared_of_block = each;
    return result;
}

std::uint64_t local_memory_of(const machine::Machine& machine, const Program& program) {
    const auto& topology = machine.topology;
    const auto threads =
        topology.max_threads_per_sm.value_or(topology.max_threads_per_block.value_or(kDefaultThreadsPerSm));
    return program.local_bytes * static_cast<std::uint64_t>(threads * *topology.sms);
}

Engine::Rules Engine::rules_of(const machine::Machine& machine) {
    const auto& issue = machine.issue;
    const auto cycles = [](const machine::Integer& field, std::int64_t fallback) {
        return static_cast<double>(field.value_or(fallback));
    };
    Rules rules;
    rules.issue_interval = issue.issue_interval.value_or(1);
    rules.warp_interval = std::max(rules.issue_interval, cycles(issue.ilp_latency, 0));
    rules.issue_width = static_cast<std::uint32_t>(std::max<std::int64_t>(1, issue.dual_issue.value_or(1)));
    rules.load_limit = static_cast<std::size_t>(issue.scoreboard_loads.value_or(0));
    rules.shared_slots = slots_of(machine.shared.issue_slots, "shared.issue_slots");
    rules.shared_to_cores = forwarding(machine.shared.latency, machine.shared.forward_latency, "shared");
    for (std::size_t kind = 0; kind < kPathNames.size(); ++kind)
        if (const auto path = machine.paths.find(std::string(kPathNames[kind])); path != machine.paths.end())
            rules.path_slots[kind] =
                slots_of(path->second.issue_slots, key_path("paths", kPathNames[kind]) + ".issue_slots");
    rules.served_per_issue = static_cast<std::uint32_t>(issue.reissue_transactions.value_or(0));
    rules.barrier_latency = cycles(issue.barrier_latency, 0);
    rules.warp_barrier_latency = cycles(issue.warp_barrier_latency, 0);
    const bool independent = issue.divergence.value_or("stack") == "independent";
    rules.barrier_counts_threads = issue.barrier_granularity.value_or(independent ? "thread" : "warp") == "thread";
    rules.branch_taken = cycles(issue.branch_latency_taken, -1);
    rules.branch_untaken = cycles(issue.branch_latency_untaken, -1);
    rules.divergence = cycles(issue.divergence_latency, -1);
    rules.operand_banks = {static_cast<std::uint32_t>(machine.topology.operand_banks.value_or(0)),
                           static_cast<std::uint32_t>(machine.topology.operand_ports.value_or(1))};
    rules.clock_cost = cycles(machine.clock.read_cost, 1);
    rules.clock_resolution = std::max<std::int64_t>(1, machine.clock.resolution.value_or(1));
    rules.cycles_per_ns = *machine.clock.sm_mhz / 1e3;
    rules.block_replacement = cycles(machine.launch.block_replacement, 0);
    rules.block_interval = machine.launch.block_interval.value_or(0);
    rules.warp_start = machine.launch.warp_interval.value_or(0);
    const auto major = machine.identity.compute_capability_major.value_or(0);
    rules.read_only_is_texture = major >= 3 && major <= 6;
    const auto path = machine.paths.find("instruction");
    const auto names = path == machine.paths.end() ? std::vector<std::string>{} : path->second.caches.value_or({});
    if (names.empty()) return rules;
    const machine::Cache& first = machine.caches.at(names.front());
    const auto& supply = machine.instruction_supply;
    rules.fetches = true;
    rules.fetch_line = static_cast<std::uint64_t>(*first.line);
    rules.fetch_block = static_cast<std::uint64_t>(supply.fetch_block.value_or(*first.line));
    rules.prefetch_lines = static_cast<std::uint64_t>(supply.prefetch_lines.value_or(0));
    rules.instruction_bytes = static_cast<std::uint64_t>(supply.instruction_bytes.value_or(kDefaultInstructionBytes));
    rules.fetch_hidden = cycles(first.latency, 0);
    return rules;
}

Engine::Engine(const LaunchSetup& setup, Counters& counters)
    : setup_(setup),
      program_(setup.kernel.program),
      counters_(counters),
      rules_(rules_of(setup.machine)),
      banks_(setup.machine.shared),
      global_(setup.machine, "global"),
      local_(setup.machine, setup.machine.paths.contains("local") ? "local" : "global"),
      texture_(setup.machine, "texture"),
      constant_(Coalescer::word_by_word()),
      parameters_(packed_parameters(program_, setup.launch.arguments)),
      shared_bytes_(program_.static_shared + static_cast<std::uint64_t>(setup.launch.dynamic_shared.count())),
      deadline_(processor_time() + setup.launch.time_limit) {
    size_launch();
    find_resources();
    operand_waits_ = operand_waits(program_, rules_.operand_banks);
    const std::size_t per_sm = setup.costs.schedulers();
    sms_.resize(static_cast<std::size_t>(*setup.machine.topology.sms));
    for (auto& sm : sms_) sm.unit_free.assign(setup.costs.unit_count(), 0.0);
    schedulers_.resize(sms_.size() * per_sm);
    for (std::size_t i = 0; i < schedulers_.size(); ++i) {
        schedulers_[i].sm = static_cast<std::uint32_t>(i / per_sm);
        schedulers_[i].number = static_cast<std::uint32_t>(i % per_sm);
        schedulers_[i].unit_free.assign(setup.costs.unit_count(), 0.0);
        schedulers_[i].available.assign(kFirstUnitSet + unit_sets_.size(), 0.0);
        schedulers_[i].event = kNever;
    }
}

void Engine::size_launch() {
    const auto& launch = setup_.launch;
    BlockNeeds needs{launch.block.count(), shared_bytes_, program_.registers_per_thread, program_.parameters.size()};
    auto residency = resident_blocks(setup_.machine, needs);
    if (launch.grid.count() == 0) residency.why = "a grid of 0 blocks asked";
    if (program_.max_threads != 0 && needs.threads > static_cast<std::uint64_t>(program_.max_threads))
        residency.why = fmt::format("{} threads per block asked; .maxntid is {}", needs.threads, program_.max_threads);
    if (!residency.why.empty()) throw DeviceError(fmt::format("launch of {}: {}", program_.name, residency.why));
    blocks_per_sm_ = residency.blocks;
    setup_.memory_system.set_aside(residency.shared_of_block * (launch.prefer_l1 ? 1 : blocks_per_sm_));
    warps_per_block_ = static_cast<std::uint32_t>((needs.threads + kWarpSize - 1) / kWarpSize);
    const auto sms = static_cast<std::uint64_t>(*setup_.machine.topology.sms);
    const auto most = std::min<std::uint64_t>(launch.grid.count(), blocks_per_sm_ * sms);
    blocks_.reserve(most);
    warps_.reserve(most * warps_per_block_);
}

/// Gives every set of units that some operation can choose from a number.
void Engine::find_resources() {
    const auto set_of = [&](const Cost& cost) {
        std::vector<std::uint16_t> units;
        for (const auto& use : cost.units) units.push_back(use.unit);
        auto found = std::find(unit_sets_.begin(), unit_sets_.end(), units);
        if (found == unit_sets_.end()) found = unit_sets_.insert(unit_sets_.end(), units);
        return static_cast<std::uint16_t>(kFirstUnitSet + (found - unit_sets_.begin()));
    };
    for (const auto& op : program_.operations) {
        const bool touches_memory =
            op.kind == Kind::load || op.kind == Kind::store || op.kind == Kind::atomic || op.kind == Kind::texture;
        on_cores_.push_back(op.kind == Kind::arithmetic && setup_.kernel.costs[op.cost].on_cores);
        if (touches_memory)
            resources_.push_back(op.space == ptx::Space::shared ? kSharedBanks : kNoResource);
        else
            resources_.push_back(set_of(setup_.kernel.costs[op.cost]));
    }
}

// ---- blocks --------------------------------------------------------------------------------------------------------

void Engine::place_initial_blocks() {
    for (bool placed = true; placed;) {
        placed = false;
        for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) placed |= place_block(sm, 0);
    }
}

std::uint32_t Engine::take_block() {
    if (free_blocks_.empty()) {
        blocks_.emplace_back();
        return static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    const std::uint32_t index = free_blocks_.back();
    free_blocks_.pop_back();
    return index;
}

bool Engine::place_block(std::uint32_t sm, double now) {
    const auto& grid = setup_.launch.grid;
    if (next_block_ >= grid.count() || sms_[sm].resident >= blocks_per_sm_) return false;
    const std::uint32_t number = take_block();
    Block& block = blocks_[number];
    block.index = next_block_++;
    block.coordinates = {static_cast<std::uint32_t>(block.index % grid.x),
                         static_cast<std::uint32_t>(block.index / grid.x % grid.y),
                         static_cast<std::uint32_t>(block.index / grid.x / grid.y)};
    block.sm = sm;
    block.shared.assign(shared_bytes_, std::byte{0});
    block.warps.clear();
    block.barriers = {};
    ++sms_[sm].resident;
    now = std::max({now, next_block_start_, sms_[sm].next_start});
    next_block_start_ = now + rules_.block_interval;
    sms_[sm].next_start = now + rules_.warp_start * warps_per_block_;
    const auto threads = static_cast<std::uint32_t>(setup_.launch.block.count());
    for (std::uint32_t w = 0; w < warps_per_block_; ++w)
        start_warp(number, w, std::min<std::uint32_t>(kWarpSize, threads - w * kWarpSize), now);
    return true;
}

/// A warp with its constants in place; they never change, so a warp that was used before has them still.
std::uint32_t Engine::take_warp() {
    if (free_warps_.empty()) {
        const auto& issue = setup_.machine.issue;
        const auto kind =
            issue.divergence.value_or("stack") == "independent" ? Divergence::independent : Divergence::stack;
        Warp& warp = warps_.emplace_back(kind, issue.first_path.value_or("taken") == "taken");
        warp.registers.assign(program_.slots, LaneValues{});
        warp.local.resize(program_.local_bytes * kWarpSize);
        for (const auto& [slot, bits] : program_.constants) warp.registers[slot].fill(bits);
        return static_cast<std::uint32_t>(warps_.size() - 1);
    }
    const std::uint32_t index = free_warps_.back();
    free_warps_.pop_back();
    return index;
}

void Engine::start_warp(std::uint32_t block, std::uint32_t in_block, std::uint32_t threads, double now) {
    const std::uint32_t index = take_warp();
    Warp& warp = warp_at(index);
    const std::uint32_t sm = blocks_[block].sm;
    const auto per_sm = static_cast<std::uint32_t>(schedulers_.size() / sms_.size());
    warp.block = block;
    warp.in_block = in_block;
    const std::uint32_t turn = sms_[sm].next_scheduler++ % per_sm;
    warp.scheduler = sm * per_sm + turn;
    // The first free place of its scheduler.
    const auto taken = [&](std::uint32_t slot) {
        return std::ranges::any_of(schedulers_[warp.scheduler].warps,
                                   [&](std::uint32_t other) { return warps_[other].slot == slot; });
    };
    warp.slot = turn;
    while (taken(warp.slot)) warp.slot += per_sm;
    warp.paths.start(threads == kWarpSize ? 0xFFFFFFFF : (1U << threads) - 1,
                     static_cast<std::uint32_t>(program_.operations.size()));
    std::fill(warp.registers.begin(), warp.registers.begin() + static_cast<std::ptrdiff_t>(program_.register_slots),
              LaneValues{});
    std::fill(warp.local.begin(), warp.local.end(), std::byte{0});
    warp.ready.assign(program_.slots, now);
    warp.ready_for_cores.assign(program_.slots, now);
    warp.hold = warp.gap = warp.memory_done = now;
    warp.step = 0;
    warp.fetched = ~std::uint64_t{0};
    warp.loads.clear();
    warp.in_use = true;
    blocks_[block].warps.push_back(index);
    Scheduler& scheduler = schedulers_[warp.scheduler];
    warp.position = scheduler.warps.size();
    scheduler.warps.push_back(index);
    scheduler.turns.push_back(++scheduler.turn);
    scheduler.times.push_back(kNever);
    scheduler.needs.push_back(kNoResource);
    ++live_warps_;
    prepare(warp, now);
    post(warp.scheduler);
}

void Engine::end_warp(std::uint32_t index, double now) {
    Warp& warp = warp_at(index);
    Block& block = blocks_[warp.block];
    Scheduler& scheduler = schedulers_[warp.scheduler];
    const auto at = static_cast<std::ptrdiff_t>(warp.position);
    scheduler.warps.erase(scheduler.warps.begin() + at);
    scheduler.turns.erase(scheduler.turns.begin() + at);
    scheduler.times.erase(scheduler.times.begin() + at);
    scheduler.needs.erase(scheduler.needs.begin() + at);
    for (std::size_t i = warp.position; i < scheduler.warps.size(); ++i) warps_[scheduler.warps[i]].position = i;
    std::erase(block.warps, index);
    warp.in_use = false;
    free_warps_.push_back(index);
    --live_warps_;
    open_complete_barriers(block);
    if (!block.warps.empty()) return;
    --sms_[block.sm].resident;
    free_blocks_.push_back(warp.block);
    place_block(block.sm, now + rules_.block_replacement);
}

}  // namespace gputomo::sim
