// Arithmetic operations per cycle of one SM against the number of warps.
#include "experiments/experiments.hpp"

#include "experiments/arithmetic/loops.hpp"
#include "experiments/clock_watch.hpp"
#include "experiments/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.98;
/// A rate falls short of the lanes by the loop's control and by ramps at both ends, and exceeds them by a clock read at most.
constexpr double kMostLost = 0.015;
constexpr double kMostGained = 0.002;
/// Independent chains a thread for the sweep over warps: one, as in Wong 2010, and enough to fill a pipeline from few warps.
constexpr int kChains[] = {1, 4};
/// Loops for the steady rate; the best of them counts. A short body fits an instruction cache of 4 KiB but its control takes
/// 0.8% of the issue slots, a long one loses 0.3%. Two chains fill the issue slots of current SMs, with more of them the
/// warps drift apart and the rate falls by up to 2%.
struct LoopShape {
    int operations;  ///< a thread and turn
    int chains;
    std::uint32_t turns;
};
constexpr LoopShape kLoops[] = {{384, 1, 4}, {1024, 1, 2}, {1024, 2, 2}};
/// Of the other operations, whose machine instructions are as many as TimedOperation::size says.
constexpr LoopShape kShortLoops[] = {{1024, 1, 2}, {1024, 2, 2}};
constexpr int kFewestOperations = 32;

/// Above this number of warps only every fourth is tried.
constexpr int kEveryWarp = 16;

std::vector<int> warp_counts(int most) {
    std::vector<int> counts;
    for (int warps = 1; warps <= most; warps += warps < kEveryWarp ? 1 : 4) counts.push_back(warps);
    if (counts.back() != most) counts.push_back(most);
    return counts;
}

int warp_size_of(const device::Device& device) { return static_cast<int>(device.attribute(device::Attribute::warp_size).value_or(32)); }

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
        const int count = std::max(kFewestOperations, shape.operations / operation.size / 4 * 4);
        ChainLoop loop(context.device, {{operation, count, shape.chains}}, shape.turns);
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

Evidence evidence_for(const TimedOperation& operation) {
    return {fmt::format("arithmetic_throughput: loops of {} in chains, n and 2n turns, from the timestamps of a block's warps",
                        operation.name),
            kConfidence};
}

deduce::Estimate rate_estimate(std::string path, double rate, const TimedOperation& operation) {
    return decided_real(std::move(path), {rate, rate * (1 - kMostGained), rate * (1 + kMostLost)}, evidence_for(operation));
}

/// Lanes are whole, and divided evenly among an SM's schedulers: of the whole numbers that the rate allows, the one that can
/// be halved most often. The rate itself where it allows none.
double whole_lanes(double rate) {
    double best = rate;
    int best_halvings = -1;
    for (auto lanes = static_cast<std::int64_t>(std::ceil(rate * (1 - kMostGained))); static_cast<double>(lanes) <= rate / (1 - kMostLost); ++lanes) {
        const int halvings = lanes > 0 ? std::countr_zero(static_cast<std::uint64_t>(lanes)) : -1;
        if (halvings > best_halvings) best = static_cast<double>(lanes);
        best_halvings = std::max(best_halvings, halvings);
    }
    return best;
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
        if (!operation.opcodes.empty()) outcome.traces.push_back(trace_of(operation, sweep(context, operation, outcome)));
        outcome.estimates.push_back(rate_estimate(fmt::format("operations[{}].throughput", operation.name),
                                                  best_rate(context, operation, outcome), operation));
    }
    for (const auto& [name, operation] : pipelines) {
        context.progress(done++ / total, name);
        const double lanes = whole_lanes(best_rate(context, operation, outcome));
        outcome.estimates.push_back(rate_estimate(fmt::format("pipelines.{}.lanes", name), lanes, operation));
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
            .provides = {"operations[*].throughput", "pipelines.*.lanes"},
            .run = run};
}

}  // namespace gputomo::experiments
