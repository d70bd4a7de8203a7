#include "sim/sm/engine.hpp"

#include "sim/sm/engine_state.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gputomo::sim {
namespace {

constexpr std::uint64_t kIssuesBetweenTimeChecks = 8192;

std::uint64_t rounded_up(std::uint64_t value, std::int64_t unit) {
    const auto u = static_cast<std::uint64_t>(std::max<std::int64_t>(1, unit));
    return (value + u - 1) / u * u;
}

std::vector<std::byte> packed_parameters(const Program& program, const device::Arguments& arguments) {
    if (arguments.offsets().size() != program.parameters.size())
        throw DeviceError(fmt::format("launch of {}: {} arguments given; expected {}", program.name, arguments.offsets().size(), program.parameters.size()));
    std::vector<std::byte> bytes(program.parameter_bytes);
    const auto given = arguments.bytes();
    for (std::size_t i = 0; i < program.parameters.size(); ++i) {
        const auto& parameter = program.parameters[i];
        const std::size_t from = arguments.offsets()[i];
        const std::size_t end = i + 1 < arguments.offsets().size() ? arguments.offsets()[i + 1] : given.size();
        if (end - from < parameter.size)
            throw DeviceError(fmt::format("launch of {}: argument {} has {} bytes; expected {}", program.name, i, end - from, parameter.size));
        std::memcpy(bytes.data() + parameter.offset, given.data() + from, parameter.size);
    }
    return bytes;
}

}  // namespace

int resident_blocks(const machine::Machine& machine, std::uint64_t threads, std::uint64_t shared_bytes, std::string& why) {
    const auto& t = machine.topology;
    const auto limit = [&](std::uint64_t asked, const machine::Integer& most, std::string_view what) {
        if (most && asked > static_cast<std::uint64_t>(*most)) why = fmt::format("{} {} asked; the limit is {}", asked, what, *most);
    };
    limit(threads, t.max_threads_per_block, "threads per block");
    limit(shared_bytes, machine.shared.max_per_block ? machine.shared.max_per_block : machine.shared.capacity, "bytes of shared memory per block");
    if (threads == 0) why = "0 threads per block asked";
    if (!why.empty()) return 0;
    std::int64_t blocks = t.max_blocks_per_sm.value_or(8);
    const auto warps = static_cast<std::int64_t>((threads + kWarpSize - 1) / kWarpSize);
    blocks = std::min(blocks, t.max_threads_per_sm.value_or(t.max_threads_per_block.value_or(1024)) / (warps * kWarpSize));
    const auto allocated = static_cast<std::int64_t>(rounded_up(shared_bytes, machine.shared.allocation_unit.value_or(1)));
    if (allocated > 0 && machine.shared.capacity) blocks = std::min(blocks, *machine.shared.capacity / allocated);
    return static_cast<int>(std::max<std::int64_t>(blocks, 1));
}

double run_launch(const LaunchSetup& setup, Counters& counters) { return Engine(setup, counters).run(); }

Engine::Rules Engine::rules_of(const machine::Machine& machine) {
    Rules rules;
    rules.issue_interval = machine.issue.issue_interval.value_or(1);
    rules.ilp_latency = static_cast<double>(machine.issue.ilp_latency.value_or(0));
    rules.issue_width = static_cast<std::uint32_t>(std::max<std::int64_t>(1, machine.issue.dual_issue.value_or(1)));
    rules.load_limit = static_cast<std::size_t>(machine.issue.scoreboard_loads.value_or(0));
    rules.barrier_latency = static_cast<double>(machine.issue.barrier_latency.value_or(0));
    rules.barrier_counts_threads = machine.issue.barrier_granularity.value_or("warp") == "thread";
    rules.clock_cost = static_cast<double>(machine.clock.read_cost.value_or(1));
    rules.clock_resolution = std::max<std::int64_t>(1, machine.clock.resolution.value_or(1));
    rules.block_replacement = static_cast<double>(machine.launch.block_replacement.value_or(0));
    rules.instruction_bytes = static_cast<std::uint64_t>(machine.instruction_supply.instruction_bytes.value_or(8));
    const auto path = machine.paths.find("instruction");
    const auto names = path == machine.paths.end() ? std::vector<std::string>{} : path->second.caches.value_or({});
    if (!names.empty()) {
        const machine::Cache& first = machine.caches.at(names.front());
        rules.fetches = true;
        rules.fetch_line = static_cast<std::uint64_t>(first.line.value_or(64));
        rules.fetch_hidden = static_cast<double>(first.latency.value_or(0));
    }
    return rules;
}

Engine::Engine(const LaunchSetup& setup, Counters& counters)
    : setup_(setup),
      program_(setup.kernel.program),
      counters_(counters),
      rules_(rules_of(setup.machine)),
      banks_(setup.machine.shared),
      global_coalescer_(setup.machine, "global"),
      texture_coalescer_(setup.machine, "texture"),
      constant_coalescer_(setup.machine, "constant"),
      parameters_(packed_parameters(program_, setup.launch.arguments)),
      shared_bytes_(program_.static_shared + static_cast<std::uint64_t>(setup.launch.dynamic_shared.count())),
      deadline_(std::chrono::steady_clock::now() + setup.launch.time_limit) {
    const machine::Machine& machine = setup.machine;
    std::string why;
    blocks_per_sm_ = resident_blocks(machine, setup.launch.block.count(), shared_bytes_, why);
    if (setup.launch.grid.count() == 0) why = "a grid of 0 blocks asked";
    if (!why.empty()) throw DeviceError(fmt::format("launch of {}: {}", program_.name, why));
    const CostModel costs(machine);
    sms_.resize(static_cast<std::size_t>(*machine.topology.sms));
    schedulers_.resize(sms_.size() * costs.schedulers());
    for (std::size_t i = 0; i < schedulers_.size(); ++i) {
        schedulers_[i].sm = static_cast<std::uint32_t>(i / costs.schedulers());
        schedulers_[i].unit_free.assign(costs.unit_count(), 0.0);
        schedulers_[i].event = kNever;
    }
}

// ---- blocks --------------------------------------------------------------------------------------------------------

void Engine::place_initial_blocks() {
    for (bool placed = true; placed;) {
        placed = false;
        for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) placed |= place_block(sm, 0);
    }
}

bool Engine::place_block(std::uint32_t sm, double now) {
    const auto& grid = setup_.launch.grid;
    if (next_block_ >= grid.count() || sms_[sm].resident >= static_cast<std::uint32_t>(blocks_per_sm_)) return false;
    auto slot = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& b) { return !b.in_use; });
    if (slot == blocks_.end()) slot = blocks_.emplace(blocks_.end());
    Block& block = *slot;
    block.index = next_block_++;
    block.coordinates = {static_cast<std::uint32_t>(block.index % grid.x), static_cast<std::uint32_t>(block.index / grid.x % grid.y),
                         static_cast<std::uint32_t>(block.index / grid.x / grid.y)};
    block.sm = sm;
    block.shared.assign(shared_bytes_, std::byte{0});
    block.warps.clear();
    block.barriers = {};
    block.in_use = true;
    ++sms_[sm].resident;
    const auto number = static_cast<std::uint32_t>(slot - blocks_.begin());
    const auto threads = static_cast<std::uint32_t>(setup_.launch.block.count());
    for (std::uint32_t w = 0; w * kWarpSize < threads; ++w) start_warp(number, w, std::min<std::uint32_t>(kWarpSize, threads - w * kWarpSize), now);
    return true;
}

std::uint32_t Engine::take_warp() {
    if (free_warps_.empty()) {
        const auto& issue = setup_.machine.issue;
        const auto kind = issue.divergence.value_or("stack") == "independent" ? Divergence::independent : Divergence::stack;
        warps_.emplace_back(kind, issue.first_path.value_or("taken") == "taken");
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
    warp.scheduler = sm * per_sm + sms_[sm].next_scheduler++ % per_sm;
    warp.paths.start(threads == kWarpSize ? 0xFFFFFFFF : (1U << threads) - 1, static_cast<std::uint32_t>(program_.operations.size()));
    warp.registers.assign(program_.slots, LaneValues{});
    for (const auto& [slot, bits] : program_.constants) warp.registers[slot].fill(bits);
    warp.ready.assign(program_.slots, now);
    warp.next_issue = now;
    warp.step = 0;
    warp.fetched = ~std::uint64_t{0};
    warp.loads.clear();
    warp.barrier = -1;
    warp.in_use = true;
    blocks_[block].warps.push_back(index);
    schedulers_[warp.scheduler].warps.push_back(index);
    ++live_warps_;
    prepare(warp, now);
    post(warp.scheduler);
}

void Engine::end_warp(std::uint32_t index, double now) {
    Warp& warp = warp_at(index);
    Block& block = blocks_[warp.block];
    std::erase(block.warps, index);
    std::erase(schedulers_[warp.scheduler].warps, index);
    warp.in_use = false;
    free_warps_.push_back(index);
    --live_warps_;
    for (std::uint32_t b = 0; b < block.barriers.size(); ++b) open_if_complete(block, b);
    if (!block.warps.empty()) return;
    block.in_use = false;
    --sms_[block.sm].resident;
    place_block(block.sm, now + rules_.block_replacement);
}

// ---- scheduling ----------------------------------------------------------------------------------------------------

double Engine::run() {
    setup_.memory_system.begin_launch();
    place_initial_blocks();
    while (live_warps_ != 0) {
        if (events_.empty()) report_deadlock();
        const auto [time, index] = events_.top();
        events_.pop();
        if (time != schedulers_[index].event) continue;
        run_scheduler(index, time);
    }
    counters_.cycles += static_cast<std::uint64_t>(std::ceil(latest_));
    setup_.memory_system.drain_counters(counters_);
    return latest_;
}

double Engine::candidate(const Warp& warp) const {
    if (warp.can_issue == kNever) return kNever;
    const Operation& op = program_.operations[warp.paths.current().pc];
    const Scheduler& scheduler = schedulers_[warp.scheduler];
    double unit = kNever;
    for (const auto& use : setup_.kernel.costs[op.cost].units) unit = std::min(unit, scheduler.unit_free[use.unit]);
    const bool touches_memory = op.kind == Kind::load || op.kind == Kind::store || op.kind == Kind::atomic || op.kind == Kind::texture;
    if (touches_memory) unit = op.space == ptx::Space::shared ? sms_[scheduler.sm].shared_free : 0;
    return std::max(warp.can_issue, unit == kNever ? 0 : unit);
}

double Engine::next_event(const Scheduler& scheduler) const {
    double earliest = kNever;
    for (const auto index : scheduler.warps) earliest = std::min(earliest, candidate(warps_[index]));
    return earliest == kNever ? kNever : std::max(earliest, scheduler.free);
}

void Engine::post(std::uint32_t index) {
    Scheduler& scheduler = schedulers_[index];
    scheduler.event = next_event(scheduler);
    if (scheduler.event != kNever) events_.emplace(scheduler.event, index);
}

void Engine::run_scheduler(std::uint32_t index, double now) {
    for (;;) {
        Scheduler& scheduler = schedulers_[index];
        // Loose round robin: of the warps that can issue now, the one after the last that did.
        const std::size_t count = scheduler.warps.size();
        std::size_t chosen = count;
        for (std::size_t i = 1; i <= count; ++i) {
            const std::size_t position = (scheduler.last + i) % count;
            if (candidate(warps_[scheduler.warps[position]]) <= now) {
                chosen = position;
                break;
            }
        }
        if (chosen == count) break;
        const std::uint32_t warp_index = scheduler.warps[chosen];
        scheduler.last = chosen;
        scheduler.free = now + rules_.issue_interval;
        scheduler.width_used = 1;
        issue(warp_index, now);
        while (schedulers_[index].width_used < rules_.issue_width && warps_[warp_index].in_use && candidate(warps_[warp_index]) <= now) {
            ++schedulers_[index].width_used;
            issue(warp_index, now);
        }
        latest_ = std::max(latest_, now);
        if (++issued_since_check_ >= kIssuesBetweenTimeChecks) check_time_limit();
        // A lone busy scheduler goes on without the queue.
        Scheduler& after = schedulers_[index];
        after.event = next_event(after);
        if (after.event == kNever) return;
        if (!events_.empty() && events_.top().first <= after.event) {
            events_.emplace(after.event, index);
            return;
        }
        now = after.event;
    }
    post(index);
}

void Engine::prepare(Warp& warp, double now) {
    if (warp.paths.finished() || warp.paths.blocked()) {
        warp.can_issue = kNever;
        return;
    }
    fetch(warp, now);
    const Operation& op = program_.operations[warp.paths.current().pc];
    double when = warp.next_issue;
    const auto wait = [&](std::uint16_t slot) {
        if (slot != kNoSlot) when = std::max(when, warp.ready[slot]);
    };
    for (const auto slot : op.source) wait(slot);
    for (const auto slot : op.vector) wait(slot);
    wait(op.destination);
    wait(op.destination2);
    wait(op.guard);
    if (rules_.load_limit != 0 && op.kind == Kind::load && warp.loads.size() >= rules_.load_limit) {
        std::erase_if(warp.loads, [&](double done) { return done <= when; });
        if (warp.loads.size() >= rules_.load_limit) when = std::max(when, *std::min_element(warp.loads.begin(), warp.loads.end()));
    }
    warp.can_issue = when;
}

void Engine::fetch(Warp& warp, double now) {
    if (!rules_.fetches) return;
    const std::uint64_t address = setup_.kernel.code_address + warp.paths.current().pc * rules_.instruction_bytes;
    const std::uint64_t line = address / rules_.fetch_line;
    if (line == warp.fetched) return;
    warp.fetched = line;
    const Transaction transaction{line * rules_.fetch_line, static_cast<std::uint32_t>(rules_.fetch_line), schedulers_[warp.scheduler].sm, PathKind::instruction};
    const double late = setup_.memory_system.access(transaction, now) - now - rules_.fetch_hidden;
    if (late > 0) warp.next_issue = std::max(warp.next_issue, now + late);
}

void Engine::check_time_limit() {
    issued_since_check_ = 0;
    if (std::chrono::steady_clock::now() < deadline_) return;
    throw TimeLimitError(fmt::format("launch of {}: not finished within {} ms (simulated cycle {:.0f}); {}", program_.name,
                                     setup_.launch.time_limit.count(), latest_, where(*std::find_if(warps_.begin(), warps_.end(), [](const Warp& w) { return w.in_use; }))));
}

std::string Engine::where(const Warp& warp) const {
    const Block& block = blocks_[warp.block];
    const auto pc = warp.paths.current().pc;
    const bool waits = warp.paths.current().at_barrier;
    return fmt::format("block ({}, {}, {}) warp {} {} line {}: {}{}", block.coordinates[0], block.coordinates[1], block.coordinates[2], warp.in_block,
                       waits ? "waits at" : "is at", program_.operations[waits ? pc - 1 : pc].line, program_.texts[waits ? pc - 1 : pc],
                       waits ? fmt::format(" (barrier {}, {} arrived)", warp.barrier, block.barriers[static_cast<std::size_t>(warp.barrier)].arrived) : "");
}

void Engine::report_deadlock() const {
    constexpr int kMostShown = 8;
    std::string text = fmt::format("launch of {}: deadlock: {} warps left and none can go on", program_.name, live_warps_);
    int shown = 0;
    for (const auto& warp : warps_)
        if (warp.in_use && shown++ < kMostShown) text += "\n    " + where(warp);
    throw DeviceError(text);
}

void Engine::fail(const Warp& warp, const Operation& op, int lane, const std::string& what) const {
    const Block& block = blocks_[warp.block];
    throw DeviceError(fmt::format("launch of {}: {} by block ({}, {}, {}) thread {} at line {}: {}", program_.name, what, block.coordinates[0],
                                  block.coordinates[1], block.coordinates[2], warp.in_block * kWarpSize + static_cast<std::uint32_t>(lane), op.line,
                                  program_.texts[static_cast<std::size_t>(&op - program_.operations.data())]));
}

}  // namespace gputomo::sim
