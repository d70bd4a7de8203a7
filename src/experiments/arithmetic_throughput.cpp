// Arithmetic operations per cycle of one SM against the number of warps.
#include "experiments/experiments.hpp"

#include "experiments/arithmetic_kernel.hpp"
#include "experiments/clock_watch.hpp"
#include "experiments/code_check.hpp"
#include "experiments/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.98;
/// Lanes come in whole numbers; a rate this near to one (ramps at both ends are left in it) is that number.
constexpr double kLaneRounding = 0.015;
/// What start and end of a block leave uncertain in a rate.
constexpr double kRateUncertainty = 0.01;
/// Independent chains a thread: one, as in Wong 2010, and enough to fill a pipeline from few warps.
constexpr int kChains[] = {1, 4};
/// Above this number of warps only every fourth is tried.
constexpr int kEveryWarp = 16;

std::vector<int> warp_counts(int most) {
    std::vector<int> counts;
    for (int warps = 1; warps <= most; warps += warps < kEveryWarp ? 1 : 4) counts.push_back(warps);
    if (counts.back() != most) counts.push_back(most);
    return counts;
}

struct Limits {
    int warp_size = 32;
    int warps = 16;
};

Limits limits_of(const device::Device& device) {
    using enum device::Attribute;
    const int warp = static_cast<int>(device.attribute(warp_size).value_or(32));
    const int threads = static_cast<int>(device.attribute(max_threads_per_block).value_or(512));
    return {warp, std::max(1, threads / warp)};
}

struct Sweep {
    std::vector<int> warps;
    std::vector<std::vector<double>> rates;  ///< per number of chains
    [[nodiscard]] double best() const {
        double most = 0;
        for (const auto& series : rates) most = std::max(most, series.back());
        return most;
    }
};

/// Throughput against warps; nothing where the machine code is not the chain that was written.
std::optional<Sweep> sweep(Context& context, const TimedOperation& operation, const std::vector<int>& warps, Limits limits,
                           Outcome& outcome) {
    Sweep result{warps, {}};
    for (int chains : kChains) {
        DoubledChain chain(context.device, operation, {.length = 128, .chains = chains});
        if (!check_chain(chain, operation, outcome)) return std::nullopt;
        const int most = static_cast<int>(chain.compiled().properties().max_threads_per_block) / limits.warp_size;
        auto& series = result.rates.emplace_back();
        for (int count : warps) {
            if (most == 0 || count <= most) series.push_back(chain.throughput(count, limits.warp_size));
            else series.push_back(series.empty() ? 0 : series.back());
        }
    }
    return result;
}

deduce::Trace trace_of(const TimedOperation& operation, const Sweep& sweep) {
    deduce::Trace trace{.name = fmt::format("arithmetic_throughput/{}", operation.mnemonic), .experiment = "arithmetic_throughput"};
    trace.columns.push_back({"warps", "count", {sweep.warps.begin(), sweep.warps.end()}});
    for (std::size_t i = 0; i < sweep.rates.size(); ++i)
        trace.columns.push_back({fmt::format("ilp{}", kChains[i]), "operations/cycle", sweep.rates[i]});
    trace.plot = {fmt::format("{}: operations per cycle of one SM", operation.mnemonic), "warps", {"ilp1", "ilp4"}, false, false};
    return trace;
}

Evidence evidence_for(const TimedOperation& operation) {
    return {fmt::format("arithmetic_throughput: chains of n and 2n {} in all warps of a block, from the warps' timestamps",
                        operation.mnemonic),
            kConfidence};
}

deduce::Estimate rate_estimate(std::string path, double rate, const TimedOperation& operation) {
    return decided_real(std::move(path), {rate, rate * (1 - kRateUncertainty), rate * (1 + kRateUncertainty)}, evidence_for(operation));
}

double whole_lanes(double rate) {
    const double whole = std::max(1.0, std::round(rate));
    return std::abs(rate - whole) <= kLaneRounding * whole ? whole : rate;
}

Outcome measure(Context& context) {
    Outcome outcome;
    const Limits limits = limits_of(context.device);
    const auto operations = timed_operations();
    const auto pipelines = timed_pipelines(target_of(context.device));
    const double total = static_cast<double>(operations.size() + pipelines.size());
    double done = 0;
    for (const auto& operation : operations) {
        context.progress(done++ / total, operation.mnemonic);
        const auto result = sweep(context, operation, warp_counts(limits.warps), limits, outcome);
        if (!result) continue;
        outcome.estimates.push_back(rate_estimate(fmt::format("operations[{}].throughput", operation.mnemonic), result->best(), operation));
        outcome.traces.push_back(trace_of(operation, *result));
    }
    for (const auto& [name, operation] : pipelines) {
        context.progress(done++ / total, name);
        const auto result = sweep(context, operation, {limits.warps}, limits, outcome);
        if (result) outcome.estimates.push_back(rate_estimate(fmt::format("pipelines.{}.lanes", name), whole_lanes(result->best()), operation));
    }
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment arithmetic_throughput() {
    return {.id = "arithmetic_throughput",
            .title = "arithmetic operations per cycle against the number of warps",
            .source = "Wong 2010, IV-B, Fig. 6; Volkov 2016, 6.3",
            .needs = {},
            .provides = {"operations[*].throughput", "pipelines.*.lanes"},
            .run = run};
}

}  // namespace gputomo::experiments
