// Arithmetic operations per cycle of one SM against the number of warps.
#include "experiments/experiments.hpp"

#include "experiments/arithmetic/loop_rates.hpp"
#include "experiments/arithmetic/rates.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/timed_chains.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace gputomo::experiments {
namespace arithmetic_throughput {
namespace {

/// Confidence of a rate, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.98;
/// Independent chains of a thread in the sweep over warps: one, as in Wong 2010, and enough for a few warps to fill a
/// pipeline.
constexpr int kChains[] = {1, 4};
/// From this number of warps on, only every fourth is measured: the curve is flat there on all known GPUs.
constexpr int kEveryWarp = 16;

std::vector<int> warp_counts(int most) {
    std::vector<int> counts;
    for (int warps = 1; warps <= most; warps += warps < kEveryWarp ? 1 : 4) counts.push_back(warps);
    if (counts.back() != most) counts.push_back(most);
    return counts;
}

struct Sweep {
    std::vector<int> warps;
    std::vector<std::vector<double>> rates;  ///< for each number of chains, in operations per cycle
};

DoubledChain::Shape sweep_shape(int chains) { return {.length = 128, .chains = chains}; }

/// Throughput against warps (Wong 2010, Fig. 6).
Sweep sweep(Context& context, const TimedOperation& operation, Outcome& outcome) {
    const int warp_size = warp_size_of(context.device);
    std::vector<std::unique_ptr<DoubledChain>> kernels;
    int most = std::numeric_limits<int>::max();
    for (int chains : kChains) {
        kernels.push_back(std::make_unique<DoubledChain>(context.device, operation, sweep_shape(chains)));
        add_code_checks(kernels.back()->compiled(), outcome);
        most = std::min(most, most_warps(kernels.back()->compiled(), warp_size));
    }
    Sweep result{warp_counts(most), {}};
    for (const auto& kernel : kernels) {
        auto& series = result.rates.emplace_back();
        for (int count : result.warps) series.push_back(kernel->throughput(count, warp_size));
    }
    return result;
}

results::Trace trace_of(const TimedOperation& operation, const Sweep& sweep) {
    results::Trace trace{.name = fmt::format("arithmetic_throughput/{}", operation.name),
                         .experiment = "arithmetic_throughput"};
    trace.columns.push_back({"warps", "count", {sweep.warps.begin(), sweep.warps.end()}});
    for (std::size_t i = 0; i < sweep.rates.size(); ++i)
        trace.columns.push_back({fmt::format("ilp{}", kChains[i]), "operations/cycle", sweep.rates[i]});
    trace.plot = {
        fmt::format("{}: operations per cycle of one SM", operation.name), "warps", {"ilp1", "ilp4"}, false, false};
    return trace;
}

/// A pipeline is full at this share of its best rate; the ramps at both ends of a run take 1%.
constexpr double kFull = 0.97;

/// Says from how many warps of one chain the pipeline is full. It also lists the numbers of warps that cover its
/// latency but do not fill it (Wong 2010, Fig. 6: six and seven).
std::string filling(const Sweep& sweep, std::optional<double> latency, int warp_size) {
    const auto& rates = sweep.rates.front();
    const double best = std::ranges::max(rates);
    std::size_t full = rates.size();
    while (full > 0 && rates[full - 1] >= kFull * best) --full;
    if (full == rates.size()) return "no number of warps fills the pipeline";
    std::string text = fmt::format("the pipeline is full from {} warps with one chain each", sweep.warps[full]);
    if (!latency) return text;
    const double enough = *latency * best / warp_size;
    std::vector<int> short_of;
    for (std::size_t i = 0; i < full; ++i)
        if (sweep.warps[i] >= kFull * enough) short_of.push_back(sweep.warps[i]);
    text += fmt::format("; {:.3g} warps cover its latency", enough);
    if (!short_of.empty()) text += fmt::format(", but {} warps do not fill it", fmt::join(short_of, ", "));
    return text;
}

Evidence evidence_for(const TimedOperation& operation) {
    return {fmt::format("arithmetic_throughput: long loops of chains of {}, timed from the first start to the last end "
                        "of a block's warps",
                        operation.name),
            kConfidence};
}

/// Hands the device the kernels that are sure to be needed.
void compile_ahead(const Context& context) {
    auto& device = context.device;
    const auto target = target_of(device);
    for (const auto& operation : timed_operations(target, context.quick)) {
        if (!operation.bridge.empty()) continue;
        if (!operation.opcodes.empty())
            for (const int chains : kChains)
                device.compile_ahead(doubled_chain_kernel(target, operation, sweep_shape(chains)).text());
        compile_loops_ahead(context, operation);
    }
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto target = target_of(context.device);
    const auto operations = timed_operations(target, context.quick);
    const auto pipelines = timed_pipelines(target);
    const double total = static_cast<double>(operations.size() + pipelines.size());
    double done = 0;
    for (const auto& operation : operations) {
        context.progress(done++ / total, operation.name);
        if (!operation.bridge.empty()) continue;
        try {
            Evidence evidence = evidence_for(operation);
            if (!operation.opcodes.empty()) {
                const Sweep over_warps = sweep(context, operation, outcome);
                outcome.traces.push_back(trace_of(operation, over_warps));
                evidence.note =
                    filling(over_warps, context.findings.number(fmt::format("operations[{}].latency", operation.name)),
                            warp_size_of(context.device));
            }
            LoopRates loops(context, operation, outcome);
            outcome.estimates.push_back(
                rate_estimate(fmt::format("operations[{}].throughput", operation.name), loops.best(), evidence));
            outcome.traces.push_back(loops.trace());
        } catch (const CodeMismatch& mismatch) {
            add_mismatch(mismatch, outcome);
        }
    }
    for (const auto& [name, operation] : pipelines) {
        context.progress(done++ / total, name);
        const double lanes = whole_lanes(LoopRates(context, operation, outcome).best());
        outcome.estimates.push_back(
            rate_estimate(fmt::format("pipelines.{}.lanes", name), lanes, evidence_for(operation)));
    }
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace arithmetic_throughput

Experiment arithmetic_throughput_experiment() {
    return {.id = "arithmetic_throughput",
            .title = "arithmetic operations per cycle against the number of warps",
            .source = "Wong 2010, IV-B, Fig. 6; Volkov 2016, 6.3",
            .method = "arithmetic-and-issue",
            .explanation =
                "More and more warps run independent operations in a loop on one SM. The rate beyond which further "
                "warps bring nothing is the throughput.",
            .needs = {},
            .after = {"arithmetic_latency"},
            .provides = {"operations[*].throughput", "pipelines.*.lanes"},
            .run = arithmetic_throughput::run,
            .compile_ahead = arithmetic_throughput::compile_ahead,
            .compile_after = "arithmetic_latency"};
}

}  // namespace gputomo::experiments
