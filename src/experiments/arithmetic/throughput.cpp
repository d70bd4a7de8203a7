// Arithmetic operations per cycle of one SM against the number of warps.
#include "experiments/experiments.hpp"

#include "experiments/arithmetic/rates.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/timed_chains.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.98;
/// Independent chains a thread for the sweep over warps: one, as in Wong 2010, and enough to fill a pipeline from few
/// warps.
constexpr int kChains[] = {1, 4};
/// Loops for the steady rate; the best of them counts. They fit an instruction cache of 4 KiB. Two chains fill the
/// issue slots of current SMs, with more of them the warps drift apart and the rate falls by up to 2%; but where
/// registers leave room for few warps only they cover the latency.
struct LoopShape {
    int operations;  ///< a thread and turn
    int chains;
};
constexpr LoopShape kLoops[] = {{384, 1}, {384, 2}, {384, 4}};
/// Of the other operations: machine instructions instead of operations.
constexpr LoopShape kShortLoops[] = {{480, 1}, {480, 2}};
constexpr int kFewestOperations = 16;
/// Machine instructions in whose time a loop counts, compares and branches: four instructions, of which one or the
/// other issues at half the rate.
constexpr double kMostControl = 8;
/// Times of loops of three lengths lie on a line within this part.
constexpr double kStraight = 0.005;

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

std::span<const LoopShape> shapes_of(const TimedOperation& operation) {
    return operation.opcodes.empty() ? std::span<const LoopShape>(kShortLoops) : std::span<const LoopShape>(kLoops);
}

/// Operations of a thread and turn: an even multiple of the chains. `size`: machine instructions of an operation.
int count_of(const LoopShape& shape, int size) { return std::max(kFewestOperations, shape.operations / size / 8 * 8); }

/// With so many operations instead.
LoopShape with_operations(const LoopShape& shape, int operations, int size) {
    return {operations * size, shape.chains};
}

std::vector<LoopPart> loop_of(const TimedOperation& operation, const LoopShape& shape, int size) {
    return {{operation, count_of(shape, size), shape.chains}};
}

/// One loop, its best number of warps, and its rate there in operations per cycle.
struct LoopRate {
    LoopShape shape{};
    int warps = 0;
    double rate = 0;
};

class LoopRates {
public:
    LoopRates(Context& context, const TimedOperation& operation, Outcome& outcome)
        : context_(context),
          operation_(operation),
          outcome_(outcome),
          warp_size_(warp_size_of(context.device)),
          size_(size_of(context.findings, operation)) {}

    /// The best steady rate, free of the loop's control: few warps with many chains or many warps with one, whichever
    /// the schedulers fill better.
    double best() {
        for (const auto& shape : shapes_of(operation_)) {
            const auto loop = make(shape);
            const int most = most_warps(loop->compiled(), warp_size_);
            for (int warps : {most / 2, most})
                if (warps > 0)
                    measured_.push_back({{count(shape), shape.chains}, warps, loop->throughput(warps, warp_size_)});
        }
        const LoopRate best = *std::ranges::max_element(measured_, {}, &LoopRate::rate);
        return without_control(best);
    }

    [[nodiscard]] results::Trace trace() const {
        results::Trace trace{.name = fmt::format("arithmetic_throughput/{}/loops", operation_.name),
                             .experiment = "arithmetic_throughput"};
        trace.columns = {{"operations", "count", {}},
                         {"chains", "count", {}},
                         {"warps", "count", {}},
                         {"rate", "operations/cycle", {}}};
        for (const auto& loop : measured_) {
            const double row[] = {static_cast<double>(loop.shape.operations), static_cast<double>(loop.shape.chains),
                                  static_cast<double>(loop.warps), loop.rate};
            for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
        }
        return trace;
    }

private:
    [[nodiscard]] int count(const LoopShape& shape) const { return count_of(shape, size_); }
    [[nodiscard]] std::unique_ptr<ChainLoop> make(const LoopShape& shape) {
        auto loop = std::make_unique<ChainLoop>(context_.device, loop_of(operation_, shape, size_));
        add_code_checks(loop->compiled(), outcome_);
        return loop;
    }

    /// The loop with `operations` instead, at as many warps.
    LoopRate shorter(const LoopRate& whole, int operations) {
        const LoopShape shape = with_operations(whole.shape, operations, size_);
        measured_.push_back(
            {{count(shape), shape.chains}, whole.warps, make(shape)->throughput(whole.warps, warp_size_)});
        return measured_.back();
    }

    /// A turn takes what its operations take and what its control does; half as many operations tell them apart. The
    /// rate as it was where that makes the control less than nothing, or so long that something else than the number of
    /// operations may differ: then a quarter of them must tell the same (the other warps do not hide the whole latency
    /// of a branch where few cover that of the operation).
    double without_control(const LoopRate& whole) {
        const auto cycles = [](const LoopRate& loop) { return loop.shape.operations / loop.rate; };
        const LoopRate half = shorter(whole, whole.shape.operations / 2);
        const double added = cycles(whole) - cycles(half);
        const double rate = (whole.shape.operations - half.shape.operations) / added;
        const double control = cycles(whole) * rate - whole.shape.operations;
        if (control < 0) return whole.rate;
        if (control * size_ <= kMostControl) return rate;
        const LoopRate quarter = shorter(whole, whole.shape.operations / 4);
        const double expected = added * (half.shape.operations - quarter.shape.operations) /
                                (whole.shape.operations - half.shape.operations);
        return std::abs(cycles(half) - cycles(quarter) - expected) <= kStraight * added ? rate : whole.rate;
    }

    Context& context_;
    const TimedOperation& operation_;
    Outcome& outcome_;
    int warp_size_, size_;
    std::vector<LoopRate> measured_;
};

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

/// Below this part of the best rate a pipeline isn't full; ramps at both ends take 1%.
constexpr double kFull = 0.97;

/// From how many warps on the pipeline stays full with one chain each, and with how many it should be but is not (Wong
/// 2010, Fig. 6: six and seven).
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

/// Of those kernels that are sure to be needed. Of the loops that tell what their control takes, one of each operation
/// is.
void compile_ahead(const Context& context) {
    auto& device = context.device;
    const auto target = target_of(device);
    for (const auto& operation : timed_operations(target, context.quick)) {
        if (!operation.bridge.empty()) continue;
        if (!operation.opcodes.empty())
            for (const int chains : kChains)
                device.compile_ahead(doubled_chain_kernel(target, operation, sweep_shape(chains)).text());
        const int size = size_of(context.findings, operation);
        for (const auto& shape : shapes_of(operation))
            for (const auto& tried : {shape, with_operations(shape, count_of(shape, size) / 2, size)})
                device.compile_ahead(chain_loop_kernel(target, loop_of(operation, tried, size)).text());
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
            .run = run,
            .compile_ahead = compile_ahead,
            .compile_after = "arithmetic_latency"};
}

}  // namespace gputomo::experiments
