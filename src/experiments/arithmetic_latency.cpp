// Cycles from an arithmetic operation to the one that needs its result.
#include "experiments/experiments.hpp"

#include "experiments/arithmetic_kernel.hpp"
#include "experiments/clock_watch.hpp"
#include "experiments/estimates.hpp"

#include <fmt/format.h>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.99;
constexpr int kLaunches = 5;

/// Latency of one operation on one thread over several launches.
Measured latency_of(Context& context, const TimedOperation& operation, Outcome& outcome) {
    DoubledChain chain(context.device, operation, {});
    add_code_checks(chain.compiled(), outcome);
    std::vector<double> samples;
    for (int i = 0; i < kLaunches; ++i) samples.push_back(chain.latency());
    return summarise(samples);
}

Evidence evidence_for(const TimedOperation& operation) {
    return {fmt::format("arithmetic_latency: chains of n and 2n {} in one thread", operation.mnemonic), kConfidence};
}

Outcome measure(Context& context) {
    Outcome outcome;
    deduce::Trace trace{.name = "arithmetic_latency/operations", .experiment = "arithmetic_latency"};
    trace.columns = {{"operation", "row", {}}, {"latency", "cycles", {}}};
    const auto operations = timed_operations();
    const auto pipelines = timed_pipelines(target_of(context.device));
    const double total = static_cast<double>(operations.size() + pipelines.size());
    double done = 0;
    for (const auto& operation : operations) {
        context.progress(done / total, operation.mnemonic);
        const Measured latency = latency_of(context, operation, outcome);
        outcome.estimates.push_back(decided_integer(fmt::format("operations[{}].latency", operation.mnemonic), latency, evidence_for(operation)));
        trace.columns[0].values.push_back(done++);
        trace.columns[1].values.push_back(latency.value);
    }
    for (const auto& [name, operation] : pipelines) {
        context.progress(done++ / total, name);
        const Measured latency = latency_of(context, operation, outcome);
        outcome.estimates.push_back(decided_integer(fmt::format("pipelines.{}.latency", name), latency, evidence_for(operation)));
    }
    outcome.traces.push_back(std::move(trace));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment arithmetic_latency_experiment() {
    return {.id = "arithmetic_latency",
            .title = "latency of add, mul, mad and rsqrt from dependent chains",
            .source = "Wong 2010, IV-B, Tables II-IV",
            .needs = {},
            .provides = {"operations[*].latency", "pipelines.*.latency"},
            .run = run};
}

}  // namespace gputomo::experiments
