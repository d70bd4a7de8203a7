// Arithmetic operations per cycle of one SM against the number of warps.
#include "experiments/experiments.hpp"

#include "experiments/arithmetic/loops.hpp"
#include "experiments/arithmetic/rates.hpp"
#include "experiments/clock_watch.hpp"
#include "experiments/estimates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.98;
/// Independent chains a thread for the sweep over warps: one, as in Wong 2010, and enough to fill a pipeline from few warps.
constexpr int kChains[] = {1, 4};
/// Loops for the steady rate; the best of them counts. A short body fits an instruction cache of 4 KiB but its control takes
/// 0.8% of the issue slots, a long one loses 0.3%. Two chains fill the issue slots of current SMs, with more of them the
/// warps drift apart and the rate falls by up to 2%; but where registers leave room for few warps only they cover the latency.
struct LoopShape {
    int operations;  ///< a thread and turn
    int chains;
};
constexpr LoopShape kLoops[] = {{384, 1}, {384, 2}, {384, 4}, {1024, 1}, {1024, 2}};
/// Of the other operations: machine instructions instead of operations.
constexpr LoopShape kShortLoops[] = {{480, 1}, {480, 2}};
constexpr int kFewestOperations = 16;

/// Above this number of warps only every fourth is tried.
constexpr int kEveryWarp = 16;

std::vector<int> warp_counts(int most) {
    std::vector<int> counts;
    for (int warps = 1; warps <= most; warps += warps < kEveryWarp ? 1 : 4) counts.push_back(warps);
    if (counts.back() != most) counts.push_back(most);
    return counts;
}

struct Sweep {
    std::vector<int> warps;
    std::vector<std::vector<double>> rates;  ///< per number of chains
};

/// Throughput against warps (Wong 2010, Fig. 6).
Sweep sweep(Context& context, const TimedOperation& operation, Outcome& outcome) {
    const int warp_size = warp_size_of(context.device);
    std::vector<std::unique_ptr<DoubledChain>> kernels;
    int most = std::numeric_limits<int>::max();
    for (int chains : kChains) {
        kernels.push_back(std::make_unique<DoubledChain>(context.device, operation, DoubledChain::Shape{.length = 128, .chains = chains}));
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

/// The best steady rate: few warps with many chains or many warps with one, whichever the schedulers fill better.
double best_rate(Context& context, const TimedOperation& operation, Outcome& outcome) {
    const int warp_size = warp_size_of(context.device);
    const bool basic = !operation.opcodes.empty();
    double best = 0;
    for (const auto& shape : basic ? std::span<const LoopShape>(kLoops) : std::span<const LoopShape>(kShortLoops)) {
        const int count = std::max(kFewestOperations, shape.operations / size_of(context.findings, operation) / 4 * 4);
        ChainLoop loop(context.device, {{operation, count, shape.chains}});
        add_code_checks(loop.compiled(), outcome);
        const int most = most_warps(loop.compiled(), warp_size);
        for (int warps : {most / 2, most})
            if (warps > 0) best = std::max(best, loop.throughput(warps, warp_size));
    }
    return best;
}

deduce::Trace trace_of(const TimedOperation& operation, const Sweep& sweep) {
    deduce::Trace trace{.name = fmt::format("arithmetic_throughput/{}", operation.name), .experiment = "arithmetic_throughput"};
    trace.columns.push_back({"warps", "count", {sweep.warps.begin(), sweep.warps.end()}});
    for (std::size_t i = 0; i < sweep.rates.size(); ++i)
        trace.columns.push_back({fmt::format("ilp{}", kChains[i]), "operations/cycle", sweep.rates[i]});
    trace.plot = {fmt::format("{}: operations per cycle of one SM", operation.name), "warps", {"ilp1", "ilp4"}, false, false};
    return trace;
}

/// Below this part of the best rate a pipeline isn't full; ramps at both ends take 1%.
constexpr double kFull = 0.97;

/// From how many warps on the pipeline stays full with one chain each, and with how many it should be but is not (Wong 2010, Fig. 6: six and seven).
std::string filling(const Sweep& sweep, std::optional<double> latency, int warp_size) {
    const auto& rates = sweep.rates.front();
    const double best = std::ranges::max(rates);
    std::size_t full = rates.size();
    while (full > 0 && rates[full - 1] >= kFull * best) --full;
    if (full == rates.size()) return "not full with any number of warps";
    std::string text = fmt::format("full from {} warps with one chain each", sweep.warps[full]);
    if (!latency) return text;
    const double enough = *latency * best / warp_size;
    std::vector<int> short_of;
    for (std::size_t i = 0; i < full; ++i)
        if (sweep.warps[i] >= kFull * enough) short_of.push_back(sweep.warps[i]);
    text += fmt::format("; {:.3g} cover its latency", enough);
    if (!short_of.empty()) text += fmt::format(", but {} don't fill it", fmt::join(short_of, ", "));
    return text;
}

Evidence evidence_for(const TimedOperation& operation) {
    return {fmt::format("arithmetic_throughput: long loops of {} in chains, from the timestamps of a block's warps",
                        operation.name),
            kConfidence};
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
                evidence.note = filling(over_warps, context.findings.number(fmt::format("operations[{}].latency", operation.name)), warp_size_of(context.device));
            }
            outcome.estimates.push_back(rate_estimate(fmt::format("operations[{}].throughput", operation.name),
                                                      best_rate(context, operation, outcome), evidence));
        } catch (const CodeMismatch& mismatch) {
            add_mismatch(mismatch, outcome);
        }
    }
    for (const auto& [name, operation] : pipelines) {
        context.progress(done++ / total, name);
        const double lanes = whole_lanes(best_rate(context, operation, outcome));
        outcome.estimates.push_back(rate_estimate(fmt::format("pipelines.{}.lanes", name), lanes, evidence_for(operation)));
    }
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment arithmetic_throughput_experiment() {
    return {.id = "arithmetic_throughput",
            .title = "arithmetic operations per cycle against the number of warps",
            .source = "Wong 2010, IV-B, Fig. 6; Volkov 2016, 6.3",
            .needs = {},
            .after = {"arithmetic_latency"},
            .provides = {"operations[*].throughput", "pipelines.*.lanes"},
            .run = run};
}

}  // namespace gputomo::experiments
