// Which warp issues when.
#include "sim/sm/engine.hpp"

#include "sim/sm/engine_state.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::sim {
namespace {

constexpr std::uint64_t kIssuesBetweenTimeChecks = 8192;

bool is_memory(Kind kind) {
    return kind == Kind::load || kind == Kind::store || kind == Kind::atomic || kind == Kind::texture;
}

}  // namespace

double run_launch(const LaunchSetup& setup, Counters& counters) { return Engine(setup, counters).run(); }

double Engine::run() {
    setup_.memory_system.begin_launch();
    place_initial_blocks();
    while (live_warps_ != 0) {
        if (events_.empty()) report_deadlock();
        const auto [time, last, index] = events_.top();
        static_cast<void>(last);
        events_.pop();
        if (time != schedulers_[index].event) continue;
        run_scheduler(index, time);
    }
    counters_.cycles += static_cast<std::uint64_t>(std::ceil(latest_));
    setup_.memory_system.drain_counters(counters_);
    return latest_;
}

void Engine::look_at_resources(Scheduler& scheduler) {
    scheduler.available[kSharedBanks] = sms_[scheduler.sm].shared_free;
    for (std::size_t set = 0; set < unit_sets_.size(); ++set) {
        double soonest = kNever;
        for (const auto unit : unit_sets_[set]) soonest = std::min(soonest, unit_free(scheduler, unit));
        scheduler.available[kFirstUnitSet + set] = soonest;
    }
}

double Engine::next_event(Scheduler& scheduler) {
    look_at_resources(scheduler);
    double earliest = kNever;
    for (std::size_t i = 0; i < scheduler.times.size(); ++i)
        earliest = std::min(earliest, std::max(scheduler.times[i], scheduler.available[scheduler.needs[i]]));
    return std::max(earliest, scheduler.free);
}

void Engine::post(std::uint32_t index) {
    Scheduler& scheduler = schedulers_[index];
    scheduler.event = next_event(scheduler);
    if (scheduler.event != kNever) events_.emplace(scheduler.event, scheduler.last_issue, index);
}

/// Loose round robin: of the warps that can issue now, the one whose last issue is longest ago, so that a warp whose
/// unit was taken at its turn is the next to have it. The number of warps where none can.
std::size_t Engine::choose(const Scheduler& scheduler, double now) {
    const std::size_t count = scheduler.warps.size();
    std::size_t chosen = count;
    for (std::size_t i = 0; i < count; ++i) {
        if (scheduler.times[i] > now || scheduler.available[scheduler.needs[i]] > now) continue;
        if (chosen == count || scheduler.turns[i] < scheduler.turns[chosen]) chosen = i;
    }
    return chosen;
}

void Engine::run_scheduler(std::uint32_t index, double now) {
    Scheduler& scheduler = schedulers_[index];
    look_at_resources(scheduler);
    for (;;) {
        const std::size_t chosen = choose(scheduler, now);
        if (chosen == scheduler.warps.size()) return post(index);  // what it waited for was taken meanwhile
        issue_from(index, chosen, now);
        // A lone busy scheduler goes on without the queue.
        scheduler.event = next_event(scheduler);
        if (scheduler.event == kNever) return;
        if (!events_.empty() && std::get<0>(events_.top()) <= scheduler.event) {
            events_.emplace(scheduler.event, scheduler.last_issue, index);
            return;
        }
        now = scheduler.event;
    }
}

void Engine::issue_from(std::uint32_t index, std::size_t position, double now) {
    Scheduler& scheduler = schedulers_[index];
    const std::uint32_t warp_index = scheduler.warps[position];
    scheduler.turns[position] = ++scheduler.turn;
    scheduler.last_issue = now;
    scheduler.free = now + rules_.issue_interval;
    const Operation* first = &operation_at(warps_[warp_index]);
    issue(warp_index, now);
    for (std::uint32_t width = 1; width < rules_.issue_width && can_pair(*first, warps_[warp_index], now); ++width) {
        first = &operation_at(warps_[warp_index]);
        issue(warp_index, now);
    }
    latest_ = std::max(latest_, now);
    if (++issued_since_check_ < kIssuesBetweenTimeChecks) return;
    issued_since_check_ = 0;
    check_time_limit();
}

/// A second instruction of the same warp issues in the same cycle where it depends on nothing that is under way. Memory
/// instructions don't pair with each other (Volkov 2016, 3.8), nor does anything pair with control flow before it. A
/// unit that takes a warp in less than the cycle of the issue takes both.
bool Engine::can_pair(const Operation& first, const Warp& warp, double now) {
    const bool continues = first.kind == Kind::arithmetic || is_memory(first.kind);
    if (!continues || !warp.in_use || warp.step != 0 || warp.earliest > now) return false;
    const Operation& second = operation_at(warp);
    if (second.kind != Kind::arithmetic && second.kind != Kind::branch &&
        !(is_memory(second.kind) && !is_memory(first.kind)))
        return false;
    Scheduler& scheduler = schedulers_[warp.scheduler];
    look_at_resources(scheduler);
    return scheduler.available[scheduler.needs[warp.position]] < now + rules_.issue_interval;
}

void Engine::prepare(Warp& warp, double now) {
    Scheduler& scheduler = schedulers_[warp.scheduler];
    if (warp.paths.blocked()) {
        warp.earliest = scheduler.times[warp.position] = kNever;
        return;
    }
    if (rules_.fetches) fetch(warp, now);
    const auto pc = warp.paths.current().pc;
    const Operation& op = program_.operations[pc];
    double when = warp.hold;
    const auto& ready = on_cores_[pc] ? warp.ready_for_cores : warp.ready;
    for (std::uint8_t i = 0; i < op.wait_count; ++i) when = std::max(when, ready[op.waits[i]]);
    if (op.kind == Kind::fence) when = std::max(when, warp.memory_done);
    if (rules_.load_limit != 0 && op.kind == Kind::load) wait_for_scoreboard(warp, when);
    warp.earliest = when;
    scheduler.times[warp.position] = std::max(when, warp.gap);
    scheduler.needs[warp.position] = resources_[pc];
}

void Engine::wait_for_scoreboard(Warp& warp, double& when) const {
    if (warp.loads.size() < rules_.load_limit) return;
    std::erase_if(warp.loads, [&](double done) { return done <= when; });
    if (warp.loads.size() >= rules_.load_limit)
        when = std::max(when, *std::min_element(warp.loads.begin(), warp.loads.end()));
}

void Engine::fetch(Warp& warp, double now) {
    const std::uint64_t address = setup_.kernel.code_address + warp.paths.current().pc * rules_.instruction_bytes;
    const std::uint64_t block = address / rules_.fetch_block;
    if (block == warp.fetched) return;
    const std::uint64_t line = address / rules_.fetch_line;
    const bool new_line = warp.fetched * rules_.fetch_block / rules_.fetch_line != line;
    warp.fetched = block;
    const Scheduler& scheduler = schedulers_[warp.scheduler];
    Transaction transaction{.address = block * rules_.fetch_block,
                            .bytes = static_cast<std::uint32_t>(rules_.fetch_block),
                            .sm = scheduler.sm,
                            .path = PathKind::instruction,
                            .scheduler = scheduler.number};
    const double late = setup_.memory_system.access(transaction, now) - now - rules_.fetch_hidden;
    if (late > 0) warp.hold = std::max(warp.hold, now + late);
    if (!new_line) return;
    const std::uint64_t end = setup_.kernel.code_address + program_.operations.size() * rules_.instruction_bytes;
    for (std::uint64_t ahead = 1; ahead <= rules_.prefetch_lines && (line + ahead) * rules_.fetch_line < end; ++ahead) {
        transaction.address = (line + ahead) * rules_.fetch_line;
        (void)setup_.memory_system.access(transaction, now);
    }
}

}  // namespace gputomo::sim
