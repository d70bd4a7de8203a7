#include "experiments/control/branch_costs.hpp"

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
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kBranchConfidence = 0.97;

}  // namespace

void add_divergence_latency(Context& context, Outcome& outcome) {
    NestedIfs kernel(context.device);
    results::Trace trace{.name = "control_flow/depth", .experiment = "control_flow"};
    trace.columns = {{"splits", "count", {}}, {"cycles", "cycles", {}}};
    std::vector<double> steps;
    for (int splits = 0; splits <= NestedIfs::kNests; ++splits) {
        const double cycles = kernel.cycles(splits);
        if (splits > 0) steps.push_back(cycles - trace.columns[1].values.back());
        trace.add_row(splits, cycles);
    }
    trace.plot = {.title = "Cycles of sixteen ifs within each other, against how many of them split the warp",
                  .x = "splits",
                  .y = {"cycles"}};
    outcome.traces.push_back(std::move(trace));
    if (!kernel.as_written()) {
        outcome.warnings.emplace_back(
            "control_flow: issue.divergence_latency was not measured, because the driver's compiler laid out the "
            "nested "
            "branches in another way than they are written");
        return;
    }
    // The cost of most splits counts, because beyond some depth a GPU may run out of entries for paths. The mean
    // cancels the steps of the clock.
    const auto summary = summarise(steps);
    const double near = std::max(1.0, clock_step(context.findings));
    std::vector<double> usual;
    std::ranges::copy_if(steps, std::back_inserter(usual),
                         [&](double step) { return std::abs(step - summary.value) <= near; });
    auto each = usual.empty() ? summary : summarise(usual);
    each.value = mean_near_median(steps, near);
    const Evidence evidence{
        "control_flow: time of a nest of sixteen ifs, of which 0 to 16 split the warp", kBranchConfidence,
        fmt::format("{} of {} splits cost about this; the splits range from {:.0f} to {:.0f} cycles", usual.size(),
                    steps.size(), summary.low, summary.high)};
    outcome.estimates.push_back(decided_integer("issue.divergence_latency", each, evidence));
}

void add_divergence_model(Context& context, Outcome& outcome) {
    SpinWithinWarp loop(context.device);
    add_code_checks(loop.compiled(), outcome);
    const int through = loop.threads_that_leave();
    const Evidence evidence{
        fmt::format("control_flow: {} of {} threads of a warp leave a loop in which each waits for the one before",
                    through, kWarpSize),
        kBranchConfidence};
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

void add_branch_latencies(Context& context, Outcome& outcome) {
    for (const bool taken : {true, false}) {
        const std::string path = taken ? "issue.branch_latency_taken" : "issue.branch_latency_untaken";
        UniformBranches kernel(context.device, taken);
        if (!kernel.as_written()) {
            outcome.warnings.push_back(
                fmt::format("control_flow: {} was not measured, because the driver's compiler laid out the branches in "
                            "another way than they "
                            "are written",
                            path));
            outcome.code_checks.push_back(kernel.layout());
            continue;
        }
        const double latency = kernel.latency();
        outcome.estimates.push_back(
            decided_integer(path, {latency, latency, latency},
                            {fmt::format("control_flow: four {} branches against one, each after the same comparisons",
                                         taken ? "taken" : "untaken"),
                             kBranchConfidence}));
    }
}

}  // namespace gputomo::experiments
