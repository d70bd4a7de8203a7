// Real kernels over occupancy: what users run, beside what models say of it.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/workload/workload.hpp"

#include <fmt/format.h>

namespace gputomo::experiments {
namespace kernels {
namespace {

results::Trace trace_of(const WorkloadTiming& timing) {
    results::Trace trace{.name = fmt::format("kernels/{}", timing.workload->id), .experiment = "kernels"};
    trace.columns = {{"warps", "warp/SM", {}}, {"rate", "warps/1000 cycles/SM", {}}};
    for (const auto& sample : timing.samples) trace.add_row(sample.warps, 1000 * sample.warps_per_cycle);
    trace.plot = {
        fmt::format("Throughput over occupancy: {}", timing.workload->title), "warps", {"rate"}, false, false};
    return trace;
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto all = workloads();
    for (const auto& workload : all) {
        const double done = static_cast<double>(outcome.traces.size()) / static_cast<double>(all.size());
        const auto progress = [&](double fraction, std::string_view what) {
            context.progress(done + fraction / static_cast<double>(all.size()), what);
        };
        outcome.traces.push_back(trace_of(time_workload(context.device, workload, progress)));
    }
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace kernels

Experiment kernels_experiment() {
    return {.id = "kernels",
            .title = "real kernels over occupancy",
            .source = "Volkov 2016, 3.8, 3.10",
            .method = "occupancy-and-models",
            .explanation =
                "Real kernels, from a vector addition to a matrix multiplication, run with more and more blocks on "
                "each SM. Shared memory that they do not use keeps further blocks away. The time of half a grid is "
                "subtracted from that of the whole grid.",
            .needs = {},
            .after = {"clock"},
            .provides = {},
            .run = kernels::run,
            .part_of_scan = PartOfScan::on_request};
}

}  // namespace gputomo::experiments
