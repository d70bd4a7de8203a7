// How a warp executes threads that take different paths, and what branches cost.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/control/branch_costs.hpp"
#include "measure/control/divergent_paths.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace gputomo::experiments {
namespace control_flow {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
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

/// A way to diverge, for the questions which path runs first and where paths reconverge.
struct Case {
    std::string_view what;
    int (*key)(int thread);
};

/// The cases agree if neither the thread numbers nor the number of threads on a path matter (Wong 2010, IV-C2).
constexpr Case kCases[] = {
    {"32 paths, rising", [](int t) { return t % kWarpSize; }},
    {"32 paths, falling", [](int t) { return kWarpSize - 1 - t % kWarpSize; }},
    {"lower half 7, upper half 21", [](int t) { return t % kWarpSize < 16 ? 7 : 21; }},
    {"lower half 21, upper half 7", [](int t) { return t % kWarpSize < 16 ? 21 : 7; }},
    {"one thread 7, others 21", [](int t) { return t % kWarpSize == 5 ? 7 : 21; }},
    {"one thread 21, others 7", [](int t) { return t % kWarpSize == 5 ? 21 : 7; }},
};

struct Observed {
    std::set<bool> later_first;  ///< whether the last clause of the chain of else-ifs ran first
    std::set<bool> together;     ///< whether all threads continued together after the join
    bool serial = true;
};

Observed run_cases(DivergentPaths& kernel) {
    Observed observed;
    for (const auto& one : kCases) {
        const auto times = kernel.run(1, one.key);
        const Paths paths = paths_of(times, one.key);
        const int first = first_to_run(paths);
        if (first == paths.begin()->first || first == paths.rbegin()->first)
            observed.later_first.insert(first != paths.begin()->first);
        else
            observed.later_first.insert({false, true});
        observed.together.insert(joined_together(times));
        observed.serial = observed.serial && serialised(paths);
    }
    return observed;
}

results::Estimate first_path_estimate(const Observed& observed, std::optional<bool> then_falls_through) {
    const Evidence evidence{
        "control_flow: which clause of a chain of 2 and of 32 else-ifs runs first, with the layout of the branches "
        "from "
        "the machine code if there is any",
        kConfidence};
    if (observed.later_first.size() != 1 || !then_falls_through) {
        return undecided("issue.first_path", {std::string("taken"), std::string("fall-through")},
                         {evidence.method, kConfidence,
                          then_falls_through ? "the order of the paths differs between cases"
                                             : "the compiler laid out some branches one way and some the other"});
    }
    const bool taken = *observed.later_first.begin() == *then_falls_through;
    return decided("issue.first_path", std::string(taken ? "taken" : "fall-through"), evidence);
}

results::Estimate reconvergence_estimate(const Observed& observed) {
    const Evidence evidence{"control_flow: whether all threads of a warp read the same clock after their paths",
                            kConfidence};
    if (observed.together.size() == 1)
        return decided("issue.reconvergence", std::string(*observed.together.begin() ? "post-dominator" : "exit"),
                       evidence);
    return undecided("issue.reconvergence", {std::string("post-dominator"), std::string("exit")}, evidence);
}

/// Two warps with 32 paths each (Wong 2010, Fig. 7; Fig. 8 shows one warp).
results::Trace timeline(DivergentPaths& kernel, Outcome& outcome) {
    const auto key = kCases[0].key;
    const auto times = kernel.run(2, key);
    results::Trace trace{.name = "control_flow/timeline", .experiment = "control_flow"};
    trace.columns = {{"warp", "", {}}, {"path", "", {}}, {"begin", "cycles", {}}, {"end", "cycles", {}}};
    std::array<Paths, 2> warps;
    for (std::size_t w = 0; w < 2; ++w) {
        warps[w] = paths_of(std::span(times).subspan(w * kWarpSize, kWarpSize), key);
        for (const auto& [path, when] : warps[w]) trace.add_row(w, path, when.begin, when.end);
    }
    const bool between_warps = std::ranges::any_of(warps[0], [&](const auto& mine) {
        return std::ranges::any_of(warps[1], [&](const auto& other) { return overlap(mine.second, other.second); });
    });
    if (!between_warps)
        outcome.warnings.emplace_back(
            "control_flow: paths of different warps did not overlap in time, although different warps can run at once");
    trace.plot = {
        .title = "When each path of two warps ran", .x = "begin", .y = {"path"}, .split = "warp", .until = "end"};
    return trace;
}

/// Cycles of the whole chain of else-ifs against the number of paths that the threads of the warp take.
results::Trace cost_against_paths(DivergentPaths& kernel) {
    results::Trace trace{.name = "control_flow/cost", .experiment = "control_flow"};
    trace.columns = {{"paths", "count", {}}, {"cycles", "cycles", {}}, {"inside", "cycles", {}}};
    for (int count = 1; count <= kPaths; ++count) {
        const auto key = [count](int t) { return t % count; };
        const auto times = kernel.run(1, key);
        double inside = 0;
        for (const auto& [path, when] : paths_of(times, key)) inside += static_cast<double>(when.end - when.begin);
        trace.add_row(count, std::ranges::max(times, {}, &ThreadTimes::joined).joined, inside);
    }
    trace.plot = {"Cycles of a warp against the number of paths that its threads take",
                  "paths",
                  {"cycles", "inside"},
                  false,
                  false};
    return trace;
}

Outcome measure(Context& context) {
    Outcome outcome;
    context.progress(0, "paths of a warp");
    DivergentPaths kernel(context.device);
    const Observed observed = run_cases(kernel);
    if (!observed.serial)
        outcome.warnings.emplace_back(
            "control_flow: paths of one warp overlapped in time, although a warp runs one path at a time");
    outcome.estimates.push_back(first_path_estimate(observed, kernel.then_falls_through()));
    outcome.estimates.push_back(reconvergence_estimate(observed));
    outcome.traces.push_back(timeline(kernel, outcome));
    context.progress(0.4, "cost of divergence");
    outcome.traces.push_back(cost_against_paths(kernel));
    add_divergence_latency(context, outcome);
    context.progress(0.6, "a warp that waits for itself");
    add_divergence_model(context, outcome);
    context.progress(0.8, "branches");
    add_branch_latencies(context, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace control_flow

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
            .run = control_flow::run};
}

}  // namespace gputomo::experiments
