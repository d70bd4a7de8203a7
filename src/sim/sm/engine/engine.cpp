// The event loop: which scheduler issues next.
#include "sim/sm/engine/engine.hpp"
#include "sim/machine_code/refused_instruction.hpp"
#include "sim/machine_code/unknown_values.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputomo::sim {
namespace {

/// Reading the processor time is a system call, so it is read once in this many issues. A launch can overrun its time
/// limit by as many issues.
constexpr std::uint64_t kIssuesBetweenTimeChecks = 8192;

}  // namespace

LaunchTime Engine::run() {
    for (auto& scheduler : units_.schedulers)
        scheduler.available.assign(kFirstUnitSet + units_.execution.sets.size(), 0.0);
    begin();
    make_sampler();
    try {
        place_initial_blocks();
        run_events();
    } catch (const TimeLimitError&) {
        throw;
    } catch (const RefusedInstruction&) {
        throw;
    } catch (const machine_code::NeedsProducts&) {
        throw;
    } catch (const DeviceError& error) {
        if (!sampler_ || !sampler_->skipped()) throw;
        throw SamplingError(
            fmt::format("{}\n  Blocks before it were skipped, and it may need their results: simulate the "
                        "whole launch",
                        error.what()));
    }
    const BlockLaunchSpec& ends = units_.block_launch_spec;
    latest_ = std::max(latest_ + (loads_ ? ends.load_drain : 0),
                       latest_store_ > 0 ? std::max(latest_, latest_store_) + ends.store_drain : 0);
    LaunchTime time = estimate_launch();
    time.timeline = std::move(timeline_);
    counters_.cycles += static_cast<std::uint64_t>(std::ceil(time.cycles));
    return time;
}

/// What a launch does before its first block: it brings the beginning of the code, and the constants that it writes.
void Engine::begin() {
    MemorySystem& memory = setup_.memory_system;
    memory.begin_launch();
    memory.preload(PathKind::instruction, shape_.code_address,
                   std::min(shape_.code_bytes, units_.block_launch_spec.code_prefetch),
                   units_.block_launch_spec.code_arrival);
    memory.preload(PathKind::constant, shape_.constants_address, shape_.constants_bytes, {});
}

void Engine::run_events() {
    while (live_warps_ != 0 && !estimate_) {
        if (events_.empty()) report_deadlock();
        const Event event = events_.first();
        events_.pop();
        if (event.scheduler >= units_.schedulers.size()) {
            serve_unit(event.scheduler - units_.schedulers.size(), event.time);
            continue;
        }
        if (event.time != units_.schedulers[event.scheduler].event) continue;
        run_scheduler(event.scheduler, event.time);
    }
    // Warps end before what they have asked the units for is done.
    while (!events_.empty() && !estimate_) {
        const Event event = events_.first();
        events_.pop();
        if (event.scheduler >= units_.schedulers.size())
            serve_unit(event.scheduler - units_.schedulers.size(), event.time);
    }
}

void Engine::update_resources(std::uint32_t index) {
    Scheduler& scheduler = units_.schedulers[index];
    scheduler.available[kSharedBanks] = shared_free(units_.load_store.state, scheduler.sm, scheduler.number);
    update_available(units_.execution, ports_of(index), scheduler.available);
}

double Engine::next_event(std::uint32_t index) {
    update_resources(index);
    return next_issue(units_.schedulers[index]);
}

void Engine::post(std::uint32_t index) {
    Scheduler& scheduler = units_.schedulers[index];
    scheduler.event = next_event(index);
    if (scheduler.event != kNever) events_.push({scheduler.event, scheduler.last_issue, index});
}

AccessTimes Engine::time_access(ResidentWarp& warp, std::uint32_t number, WarpAccess access, std::uint64_t local_bytes,
                                double now) {
    Scheduler& scheduler = units_.schedulers[warp.scheduler];
    access.sm = scheduler.sm;
    access.scheduler = scheduler.number;
    access.returning = &warp.returning;
    access.local_frames = setup_.local_address + std::uint64_t{number} * local_bytes * kWarpSize;
    const AccessTimes times = sim::access(units_.load_store, access, now);
    warp.hold = std::max(warp.hold, times.warp_free);
    warp.gap = std::max(warp.gap, times.warp_gap);
    scheduler.free = std::max(scheduler.free, times.scheduler_free);
    latest_ = std::max(latest_, times.last);
    if (access.instruction.space == ptx::Space::shared) return times;
    if (access.instruction.kind == AccessKind::store)
        latest_store_ = std::max(latest_store_, times.done);
    else if (access.instruction.space != ptx::Space::constant)
        loads_ = true;
    return times;
}

WarpFacts Engine::facts_of(const ResidentWarp& warp, double now) const {
    const Block& block = blocks_[warp.block];
    return {.block = block.coordinates,
            .warp_in_block = warp.in_block,
            .slot = warp.slot,
            .sm = block.sm,
            .clock = clock_at(units_.clock, setup_.clock_offsets[block.sm], now),
            .nanoseconds = static_cast<std::uint64_t>(setup_.start_ns + now / units_.clock.cycles_per_ns)};
}

void Engine::run_scheduler(std::uint32_t index, double now) {
    Scheduler& scheduler = units_.schedulers[index];
    update_resources(index);
    for (;;) {
        const std::size_t chosen = choose(scheduler, now);
        if (chosen == scheduler.warps.size()) return post(index);  // another scheduler has taken what it waited for
        issue_from(index, chosen, now);
        scheduler.event = next_event(index);
        if (scheduler.event == kNever || estimate_) return;
        if (!events_.empty() && events_.first_time() <= scheduler.event) {
            events_.push({scheduler.event, scheduler.last_issue, index});
            return;
        }
        now = scheduler.event;  // no other scheduler comes first: go on without the queue
    }
}

void Engine::issue_from(std::uint32_t index, std::size_t position, double now) {
    Scheduler& scheduler = units_.schedulers[index];
    const std::uint32_t warp = scheduler.warps[position];
    note_issue(units_.scheduler_spec, scheduler, position, now);
    issue_next(warp, now);
    latest_ = std::max(latest_, now);
    if (++issued_since_check_ < kIssuesBetweenTimeChecks) return;
    issued_since_check_ = 0;
    look_for_cut(now);
    check_limits();
    check_progress();
}

}  // namespace gputomo::sim
