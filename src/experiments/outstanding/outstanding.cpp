// How an SM tracks the loads that it has in flight: thread-latency surfaces, explained by queueing models.
#include "experiments/experiments.hpp"

#include "deduce/in_flight/outstanding_fit.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "experiments/outstanding/plots.hpp"
#include "experiments/outstanding/setup.hpp"
#include "experiments/outstanding/sweep.hpp"
#include "experiments/outstanding/table.hpp"
#include "experiments/outstanding/warp_limit.hpp"

#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace outstanding {
namespace {

results::Trace models_trace(const std::vector<deduce::OutstandingFit>& fits) {
    results::Trace trace{.name = "outstanding/descriptions", .experiment = "outstanding"};
    trace.columns = {{"unit", "0 none, 1 threads, 2 sectors, 3 lines, 4 instructions", {}},
                     {"entries", "count", {}},
                     {"error", "share of latency", {}},
                     {"latency", "cycles", {}},
                     {"spacing", "cycles", {}},
                     {"issue", "cycles", {}},
                     {"gap", "cycles", {}},
                     {"service", "cycles", {}}};
    for (const auto& [model, error, least, most] : fits)
        trace.add_row(static_cast<int>(model.unit), model.entries, error, model.latency, model.spacing, model.issue,
                      model.gap, model.service);
    return trace;
}

Outcome measure(Context& context) {
    Outcome outcome;
    outstanding::Setup setup(context, outcome);
    context.progress(0.05, "loads of one warp");
    find_warp_limit(setup);
    sweep(setup);
    const auto fits = deduce::fit_outstanding(setup.points, setup.warp_loads);
    outcome.traces.push_back(models_trace(fits));
    outcome.traces.push_back(outstanding::surface_trace(setup.points, fits.front().model));
    outcome.traces.push_back(outstanding::thread_latency_trace(setup.points));
    report_table(setup, fits);
    if (!context.quick) plot_paper(setup);
    plot_other_accesses(setup);
    return outcome;
}

/// Compiles the kernels that the launches of one warp use: one for each number of loads.
void compile_ahead(const Context& context) {
    auto& device = context.device;
    for (int loads = 1; loads <= outstanding::most_loads(device); ++loads)
        device.compile_ahead(in_flight_kernel(target_of(device), {.count = loads}).text());
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace outstanding

Experiment outstanding_experiment() {
    return {.id = "outstanding",
            .title = "outstanding loads of an SM and of a warp: the design and size of the table that tracks them",
            .source = "Lashgar 2015, 3 and 5",
            .method = "outstanding-requests",
            .explanation =
                "More and more threads issue loads that miss. The time jumps where the table that tracks "
                "outstanding loads is full. Whether the table counts threads, lines or warp instructions shows its "
                "design.",
            .needs = {},
            .after = {"caches"},
            .provides = {"issue.scoreboard_loads", "issue.scoreboard_at_least", "caches.*.outstanding_at_least",
                         "paths.*.outstanding_at_least", "caches.*.outstanding_design", "caches.*.outstanding_entries",
                         "caches.*.outstanding_merge", "paths.*.outstanding_design", "paths.*.outstanding_entries",
                         "paths.*.outstanding_merge"},
            .run = outstanding::run,
            .compile_ahead = outstanding::compile_ahead,
            .compile_after = "arithmetic_latency"};
}

}  // namespace gputomo::experiments
