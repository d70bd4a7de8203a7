// What a warp does whose threads go different ways, and what branches cost.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/control/divergent_paths.hpp"
#include "measure/control/nested_ifs.hpp"
#include "measure/control/spin_within_warp.hpp"
#include "measure/control/uniform_branches.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.97;

/// From the first start to the last end of the threads that took a path.
struct Interval {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
using Paths = std::map<int, Interval>;

Paths paths_of(std::span<const ThreadTimes> warp, const std::function<int(int)>& key) {
    Paths paths;
    for (int t = 0; t < std::ssize(warp); ++t) {
        const auto& time = warp[static_cast<std::size_t>(t)];
        auto& path = paths.try_emplace(key(t), Interval{time.begin, time.end}).first->second;
        path = {std::min(path.begin, time.begin), std::max(path.end, time.end)};
    }
    return paths;
}

bool overlap(const Interval& a, const Interval& b) { return a.begin < b.end && b.begin < a.end; }

bool serialised(const Paths& paths) {
    for (auto a = paths.begin(); a != paths.end(); ++a)
        for (auto b = std::next(a); b != paths.end(); ++b)
            if (overlap(a->second, b->second)) return false;
    return true;
}

int first_to_run(const Paths& paths) {
    return std::ranges::min_element(paths, {}, [](const auto& path) { return path.second.begin; })->first;
}

bool joined_together(std::span<const ThreadTimes> warp) {
    const auto last = std::ranges::max(warp, {}, &ThreadTimes::end).end;
    return std::ranges::all_of(
        warp, [&](const auto& time) { return time.joined == warp.front().joined && time.joined >= last; });
}

/// A kind of divergence for the questions of which side runs first and where they join.
struct Case {
    std::string_view what;
    int (*key)(int thread);
};

/// Wong 2010, IV-C2: neither thread numbers nor how many threads take a path matter, or else these don't agree.
constexpr Case kCases[] = {
    {"32 paths, rising", [](int t) { return t % kWarpSize; }},
    {"32 paths, falling", [](int t) { return kWarpSize - 1 - t % kWarpSize; }},
    {"lower half 7, upper half 21", [](int t) { return t % kWarpSize < 16 ? 7 : 21; }},
    {"lower half 21, upper half 7", [](int t) { return t % kWarpSize < 16 ? 21 : 7; }},
    {"one thread 7, others 21", [](int t) { return t % kWarpSize == 5 ? 7 : 21; }},
    {"one thread 21, others 7", [](int t) { return t % kWarpSize == 5 ? 21 : 7; }},
};

struct Seen {
    std::set<bool> later_first;  ///< whether the clause that comes later in the chain of else-ifs ran first
    std::set<bool> together;     ///< whether all threads went on together behind the join
    bool serial = true;
};

Seen look_at_cases(DivergentPaths& kernel) {
    Seen seen;
    for (const auto& one : kCases) {
        const auto times = kernel.run(1, one.key);
        const Paths paths = paths_of(times, one.key);
        const int first = first_to_run(paths);
        if (first == paths.begin()->first || first == paths.rbegin()->first)
            seen.later_first.insert(first != paths.begin()->first);
        else
            seen.later_first.insert({false, true});
        seen.together.insert(joined_together(times));
        seen.serial = seen.serial && serialised(paths);
    }
    return seen;
}

results::Estimate first_path_estimate(const Seen& seen, std::optional<bool> then_falls_through) {
    const Evidence evidence{
        "control_flow: which of the clauses of 2 and of 32 else-ifs is timed first, by machine code where there is "
        "some",
        kConfidence};
    if (seen.later_first.size() != 1 || !then_falls_through) {
        return undecided("issue.first_path", {std::string("taken"), std::string("fall-through")},
                         {evidence.method, kConfidence,
                          then_falls_through ? "the order differs from case to case"
                                             : "the compiler laid out the branches one way and the other"});
    }
    const bool taken = *seen.later_first.begin() == *then_falls_through;
    return decided("issue.first_path", std::string(taken ? "taken" : "fall-through"), evidence);
}

results::Estimate reconvergence_estimate(const Seen& seen) {
    const Evidence evidence{
        "control_flow: whether all threads of a warp read the same clock behind the paths that they took", kConfidence};
    if (seen.together.size() == 1)
        return decided("issue.reconvergence", std::string(*seen.together.begin() ? "post-dominator" : "exit"),
                       evidence);
    return undecided("issue.reconvergence", {std::string("post-dominator"), std::string("exit")}, evidence);
}

/// Two warps with 32 paths each (Wong 2010, Fig. 7); one warp would be Fig. 8.
results::Trace timeline(DivergentPaths& kernel, Outcome& outcome) {
    const auto key = kCases[0].key;
    const auto times = kernel.run(2, key);
    results::Trace trace{.name = "control_flow/timeline", .experiment = "control_flow"};
    trace.columns = {{"warp", "", {}}, {"path", "", {}}, {"begin", "cycles", {}}, {"end", "cycles", {}}};
    std::array<Paths, 2> warps;
    for (std::size_t w = 0; w < 2; ++w) {
        warps[w] = paths_of(std::span(times).subspan(w * kWarpSize, kWarpSize), key);
        for (const auto& [path, when] : warps[w]) {
            const double row[] = {static_cast<double>(w), static_cast<double>(path), static_cast<double>(when.begin),
                                  static_cast<double>(when.end)};
            for (std::size_t i = 0; i < 4; ++i) trace.columns[i].values.push_back(row[i]);
        }
    }
    const bool between_warps = std::ranges::any_of(warps[0], [&](const auto& mine) {
        return std::ranges::any_of(warps[1], [&](const auto& other) { return overlap(mine.second, other.second); });
    });
    if (!between_warps) outcome.warnings.emplace_back("control_flow: paths of different warps did not overlap in time");
    trace.plot = {
        .title = "When each path of two warps ran", .x = "begin", .y = {"path"}, .split = "warp", .until = "end"};
    return trace;
}

/// Cycles of the whole chain of else-ifs, against the number of paths that threads of the warp took.
results::Trace cost_against_paths(DivergentPaths& kernel) {
    results::Trace trace{.name = "control_flow/cost", .experiment = "control_flow"};
    trace.columns = {{"paths", "count", {}}, {"cycles", "cycles", {}}, {"inside", "cycles", {}}};
    for (int count = 1; count <= kPaths; ++count) {
        const auto key = [count](int t) { return t % count; };
        const auto times = kernel.run(1, key);
        double inside = 0;
        for (const auto& [path, when] : paths_of(times, key)) inside += static_cast<double>(when.end - when.begin);
        trace.columns[0].values.push_back(count);
        trace.columns[1].values.push_back(
            static_cast<double>(std::ranges::max(times, {}, &ThreadTimes::joined).joined));
        trace.columns[2].values.push_back(inside);
    }
    trace.plot = {"Cycles of a warp against the number of paths that its threads take",
                  "paths",
                  {"cycles", "inside"},
                  false,
                  false};
    return trace;
}

/// Cycles of a nest of ifs against how many of its branches split the warp, and what one more split adds.
void divergence_cost(Context& context, Outcome& outcome) {
    NestedIfs kernel(context.device);
    results::Trace trace{.name = "control_flow/depth", .experiment = "control_flow"};
    trace.columns = {{"splits", "count", {}}, {"cycles", "cycles", {}}};
    std::vector<double> steps;
    for (int splits = 0; splits <= NestedIfs::kNests; ++splits) {
        const double cycles = kernel.cycles(splits);
        if (splits > 0) steps.push_back(cycles - trace.columns[1].values.back());
        trace.columns[0].values.push_back(splits);
        trace.columns[1].values.push_back(cycles);
    }
    trace.plot = {.title = "Cycles of sixteen ifs within each other, against how many of them split the warp",
                  .x = "splits",
                  .y = {"cycles"}};
    outcome.traces.push_back(std::move(trace));
    if (!kernel.as_written()) {
        outcome.warnings.emplace_back(
            "control_flow: the compiler laid out nested branches in another way; nothing is said of "
            "issue.divergence_latency");
        return;
    }
    // What most splits add: beyond some depth a GPU may run out of places to keep its paths in. Steps of the clock
    // cancel in the mean.
    const auto all = summarise(steps);
    const double reach = std::max(1.0, clock_step(context.findings));
    std::vector<double> usual;
    std::ranges::copy_if(steps, std::back_inserter(usual),
                         [&](double step) { return std::abs(step - all.value) <= reach; });
    auto each = usual.empty() ? all : summarise(usual);
    each.value = mean_near_median(steps, reach);
    const Evidence evidence{"control_flow: a nest of sixteen ifs, of which 0 to 16 split the warp", kConfidence,
                            fmt::format("{} of {} splits cost that, all of them {:.0f} to {:.0f} cycles", usual.size(),
                                        steps.size(), all.low, all.high)};
    outcome.estimates.push_back(decided_integer("issue.divergence_latency", each, evidence));
}

/// Threads that wait for others of their warp make progress only where each is scheduled on its own.
void spin(Context& context, Outcome& outcome) {
    SpinWithinWarp loop(context.device);
    add_code_checks(loop.compiled(), outcome);
    const int through = loop.threads_that_leave();
    const Evidence evidence{
        fmt::format("control_flow: {} of {} threads of a warp leave a loop in which each waits for the one before",
                    through, kWarpSize),
        kConfidence};
    if (through == kWarpSize || through <= 1) {
        outcome.estimates.push_back(
            decided("issue.spin_within_warp", std::string(through == kWarpSize ? "completes" : "deadlocks"), evidence));
        outcome.estimates.push_back(
            decided("issue.divergence", std::string(through == kWarpSize ? "independent" : "stack"), evidence));
        return;
    }
    outcome.estimates.push_back(
        undecided("issue.spin_within_warp", {std::string("completes"), std::string("deadlocks")}, evidence));
    outcome.estimates.push_back(
        undecided("issue.divergence", {std::string("independent"), std::string("stack")}, evidence));
}

void branches(Context& context, Outcome& outcome) {
    for (const bool taken : {true, false}) {
        const std::string path = taken ? "issue.branch_latency_taken" : "issue.branch_latency_untaken";
        UniformBranches kernel(context.device, taken);
        if (!kernel.as_written()) {
            outcome.warnings.push_back(fmt::format(
                "control_flow: the compiler laid out the branches of {} in another way; nothing is said of it", path));
            outcome.code_checks.push_back(kernel.layout());
            continue;
        }
        const double latency = kernel.latency();
        outcome.estimates.push_back(
            decided_integer(path, {latency, latency, latency},
                            {fmt::format("control_flow: four {} branches against one, behind the same comparisons",
                                         taken ? "taken" : "untaken"),
                             kConfidence}));
    }
}

Outcome measure(Context& context) {
    Outcome outcome;
    context.progress(0, "paths of a warp");
    DivergentPaths kernel(context.device);
    const Seen seen = look_at_cases(kernel);
    if (!seen.serial) outcome.warnings.emplace_back("control_flow: paths of one warp overlapped in time");
    outcome.estimates.push_back(first_path_estimate(seen, kernel.then_falls_through()));
    outcome.estimates.push_back(reconvergence_estimate(seen));
    outcome.traces.push_back(timeline(kernel, outcome));
    context.progress(0.4, "cost of divergence");
    outcome.traces.push_back(cost_against_paths(kernel));
    divergence_cost(context, outcome);
    context.progress(0.6, "a warp that waits for itself");
    spin(context, outcome);
    context.progress(0.8, "branches");
    branches(context, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment control_flow_experiment() {
    return {.id = "control_flow",
            .title = "paths of diverged warps: order, overlap, joining, progress; cost of branches",
            .source = "Wong 2010, IV-C, Figs. 7 and 8, Listings 3 and 4; Volkov 2016, 3.7",
            .method = "control-flow-and-barriers",
            .explanation =
                "Threads of a warp take different paths and read the clock at both ends of each. The order of the "
                "readings shows which path runs first, whether paths overlap, and where they reconverge.",
            .needs = {},
            .provides = {"issue.divergence", "issue.first_path", "issue.reconvergence", "issue.spin_within_warp",
                         "issue.branch_latency_taken", "issue.branch_latency_untaken", "issue.divergence_latency"},
            .run = run};
}

}  // namespace gputomo::experiments
