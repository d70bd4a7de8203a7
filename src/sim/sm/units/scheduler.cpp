#include "sim/sm/units/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

/// When the warp's next instruction can issue, were the scheduler free.
double ready(const Scheduler& scheduler, std::size_t position) {
    return std::max(scheduler.times[position], scheduler.available[scheduler.resources[position]]);
}

}  // namespace

SchedulerSpec scheduler_spec_of(const machine::Issue& issue) {
    SchedulerSpec spec;
    spec.issue_interval = issue.issue_interval.value_or(1);
    spec.warp_interval = std::max(spec.issue_interval, static_cast<double>(issue.ilp_latency.value_or(0)));
    spec.oldest_block_first = issue.block_priority.value_or("none") == "oldest";
    spec.issue_width = static_cast<std::uint32_t>(std::max<std::int64_t>(1, issue.dual_issue.value_or(1)));
    return spec;
}

std::size_t add_warp(Scheduler& scheduler, std::uint32_t warp, std::uint64_t age) {
    const std::size_t position = scheduler.warps.size();
    scheduler.warps.push_back(warp);
    scheduler.ages.push_back(age);
    scheduler.turns.push_back(static_cast<std::uint32_t>(position));
    scheduler.times.push_back(kNever);
    scheduler.resources.push_back(kNoResource);
    return position;
}

void remove_warp(Scheduler& scheduler, std::size_t position) {
    const auto at = static_cast<std::ptrdiff_t>(position);
    scheduler.preferred = kNobody;
    scheduler.warps.erase(scheduler.warps.begin() + at);
    scheduler.ages.erase(scheduler.ages.begin() + at);
    scheduler.times.erase(scheduler.times.begin() + at);
    scheduler.resources.erase(scheduler.resources.begin() + at);
    std::erase(scheduler.turns, position);
    for (auto& other : scheduler.turns) other -= other > position ? 1 : 0;
}

std::size_t choose(const Scheduler& scheduler, double now) {
    if (scheduler.preferred < scheduler.warps.size() && ready(scheduler, scheduler.preferred) <= now)
        return scheduler.preferred;
    for (const auto position : scheduler.turns)
        if (ready(scheduler, position) <= now) return position;
    return scheduler.warps.size();
}

double next_issue(const Scheduler& scheduler) {
    double earliest = kNever;
    for (const auto position : scheduler.turns) {
        earliest = std::min(earliest, ready(scheduler, position));
        if (earliest <= scheduler.free) return scheduler.free;
    }
    return earliest;
}

void note_issue(const SchedulerSpec& spec, Scheduler& scheduler, std::size_t position, double now) {
    auto& turns = scheduler.turns;
    auto turn = std::find(turns.begin(), turns.end(), position);
    for (auto next = turn + 1; next != turns.end() && scheduler.ages[*next] == scheduler.ages[position]; ++turn, ++next)
        *turn = *next;
    *turn = static_cast<std::uint32_t>(position);
    scheduler.last_issue = now;
    scheduler.preferred = kNobody;
    scheduler.free = now + spec.issue_interval;
}

void take_slots(const SchedulerSpec& spec, Scheduler& scheduler, double slots, double now) {
    scheduler.free = std::max(scheduler.free, now + slots * spec.issue_interval);
}

std::string describe(const Scheduler& scheduler) {
    return fmt::format("scheduler {} of SM {}: {} warps, last issue at cycle {:.0f}, free from cycle {:.0f}",
                       scheduler.number, scheduler.sm, scheduler.warps.size(), scheduler.last_issue, scheduler.free);
}

}  // namespace gputomo::sim
