#include "sim/sm/units/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {

SchedulerSpec scheduler_spec_of(const machine::Issue& issue) {
    SchedulerSpec spec;
    spec.issue_interval = issue.issue_interval.value_or(1);
    spec.warp_interval = std::max(spec.issue_interval, static_cast<double>(issue.ilp_latency.value_or(0)));
    spec.issue_width = static_cast<std::uint32_t>(std::max<std::int64_t>(1, issue.dual_issue.value_or(1)));
    return spec;
}

std::size_t add_warp(Scheduler& scheduler, std::uint32_t warp) {
    scheduler.warps.push_back(warp);
    scheduler.issue_numbers.push_back(++scheduler.issues);
    scheduler.times.push_back(kNever);
    scheduler.resources.push_back(kNoResource);
    return scheduler.warps.size() - 1;
}

void remove_warp(Scheduler& scheduler, std::size_t position) {
    const auto at = static_cast<std::ptrdiff_t>(position);
    scheduler.preferred = kNobody;
    scheduler.warps.erase(scheduler.warps.begin() + at);
    scheduler.issue_numbers.erase(scheduler.issue_numbers.begin() + at);
    scheduler.times.erase(scheduler.times.begin() + at);
    scheduler.resources.erase(scheduler.resources.begin() + at);
}

std::size_t choose(const Scheduler& scheduler, double now) {
    const std::size_t count = scheduler.warps.size();
    const auto can_issue = [&](std::size_t i) {
        return scheduler.times[i] <= now && scheduler.available[scheduler.resources[i]] <= now;
    };
    if (scheduler.preferred < count && can_issue(scheduler.preferred)) return scheduler.preferred;
    std::size_t chosen = count;
    for (std::size_t i = 0; i < count; ++i) {
        if (!can_issue(i)) continue;
        if (chosen == count || scheduler.issue_numbers[i] < scheduler.issue_numbers[chosen]) chosen = i;
    }
    return chosen;
}

double next_issue(const Scheduler& scheduler) {
    double earliest = kNever;
    for (std::size_t i = 0; i < scheduler.times.size(); ++i)
        earliest = std::min(earliest, std::max(scheduler.times[i], scheduler.available[scheduler.resources[i]]));
    return std::max(earliest, scheduler.free);
}

void note_issue(const SchedulerSpec& spec, Scheduler& scheduler, std::size_t position, double now) {
    scheduler.issue_numbers[position] = ++scheduler.issues;
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
