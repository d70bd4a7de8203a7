// Cycles from an arithmetic operation to the one that needs its result, and the machine instructions of each operation.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/timed_chains.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace gputomo::experiments {
namespace arithmetic_latency {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.99;
constexpr int kLaunches = 5;
/// Machine instructions of the shorter chain, by TimedOperation::size. With 32 operations, a clock that steps by 2
/// cycles changes the latency by a sixteenth of a cycle.
constexpr int kInstructions = 64;
constexpr int kFewestOperations = 8;
/// Operations of the chains of the first rows. Long chains leave no doubt about the compiler's work.
constexpr int kLongChain = 128;
/// Counts of machine instructions are this near to whole numbers, unless a compiler alternates between two sequences.
constexpr double kWhole = 0.1;

int chain_length(const TimedOperation& operation) {
    if (!operation.opcodes.empty()) return kLongChain;
    return std::max(kFewestOperations, kInstructions / operation.size / 2 * 2);
}

struct Timed {
    Measured latency;
    std::optional<Expansion> expansion;
};

/// Latency of one operation on one thread over several launches.
Timed time(Context& context, const TimedOperation& operation, Outcome& outcome) {
    const int length = chain_length(operation);
    DoubledChain chain(context.device, operation, {.length = length});
    add_code_checks(chain.compiled(), outcome);
    std::vector<double> samples;
    for (int i = 0; i < kLaunches; ++i) samples.push_back(chain.latency());
    return {summarise(samples),
            expansion_of(chain.compiled().module().machine_code(), chain.compiled().name(), length)};
}

Evidence evidence_for(const TimedOperation& operation) {
    std::string method = fmt::format("arithmetic_latency: chains of n and 2n {} in one thread", operation.name);
    if (!operation.bridge.empty()) method += fmt::format(", less {}", operation.bridge);
    return {std::move(method), kConfidence};
}

/// "2 x FMUL, 1 x MUFU"
std::string text_of(const Expansion& expansion) {
    std::vector<std::string> parts;
    for (const auto& [name, count] : expansion.opcodes) parts.push_back(fmt::format("{:.3g} x {}", count, name));
    return fmt::format("{}", fmt::join(parts, ", "));
}

results::Estimate instructions_estimate(const TimedOperation& operation, const Expansion& expansion) {
    const auto path = fmt::format("operations[{}].instructions", operation.name);
    const Evidence evidence{"arithmetic_latency: machine code of 2n operations less that of n", kConfidence,
                            text_of(expansion)};
    const double nearest = std::round(expansion.instructions);
    if (std::abs(expansion.instructions - nearest) <= kWhole)
        return decided(path, static_cast<std::int64_t>(nearest), evidence);
    return undecided(path,
                     {static_cast<std::int64_t>(std::floor(expansion.instructions)),
                      static_cast<std::int64_t>(std::ceil(expansion.instructions))},
                     evidence);
}

/// Subtracts the operation that closes the chain; nothing if it was not timed.
std::optional<Timed> without_bridge(Timed timed, const std::map<std::string_view, Timed>& done,
                                    std::string_view bridge) {
    if (bridge.empty()) return timed;
    const auto found = done.find(bridge);
    if (found == done.end()) return std::nullopt;
    const auto& other = found->second;
    timed.latency = {timed.latency.value - other.latency.value, timed.latency.low - other.latency.high,
                     timed.latency.high - other.latency.low};
    if (timed.expansion && other.expansion) {
        timed.expansion->instructions -= other.expansion->instructions;
        for (const auto& [name, count] : other.expansion->opcodes) timed.expansion->opcodes[name] -= count;
        std::erase_if(timed.expansion->opcodes, [](const auto& entry) { return entry.second < kWhole; });
    }
    return timed;
}

void compile_ahead(device::Device& device, std::span<const TimedOperation> operations) {
    if (!device.compiles_ahead()) return;
    for (const auto& operation : operations)
        device.compile_ahead(
            doubled_chain_kernel(target_of(device), operation, {.length = chain_length(operation)}).text());
}

Outcome measure(Context& context) {
    Outcome outcome;
    results::Trace trace{.name = "arithmetic_latency/operations", .experiment = "arithmetic_latency"};
    trace.columns = {{"operation", "row", {}}, {"latency", "cycles", {}}};
    const auto target = target_of(context.device);
    const auto operations = timed_operations(target, context.quick);
    const auto pipelines = timed_pipelines(target);
    const double total = static_cast<double>(operations.size() + pipelines.size());
    compile_ahead(context.device, operations);
    double row = 0;
    std::map<std::string_view, Timed> done;
    for (const auto& operation : operations) {
        context.progress(row / total, operation.name);
        try {
            const auto timed = without_bridge(time(context, operation, outcome), done, operation.bridge);
            if (!timed) continue;
            outcome.estimates.push_back(decided_integer(fmt::format("operations[{}].latency", operation.name),
                                                        timed->latency, evidence_for(operation)));
            if (timed->expansion) outcome.estimates.push_back(instructions_estimate(operation, *timed->expansion));
            trace.add_row(row++, timed->latency.value);
            done.emplace(operation.name, *timed);
        } catch (const CodeMismatch& mismatch) {
            add_mismatch(mismatch, outcome);
        }
    }
    for (const auto& [name, operation] : pipelines) {
        context.progress(row++ / total, name);
        const Measured latency = time(context, operation, outcome).latency;
        outcome.estimates.push_back(
            decided_integer(fmt::format("pipelines.{}.latency", name), latency, evidence_for(operation)));
    }
    outcome.traces.push_back(std::move(trace));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace arithmetic_latency

Experiment arithmetic_latency_experiment() {
    return {.id = "arithmetic_latency",
            .title = "latency of arithmetic operations from dependent chains, and what the driver makes of each",
            .source = "Wong 2010, IV-B, Tables II-IV",
            .method = "arithmetic-and-issue",
            .explanation =
                "One thread runs a chain of operations, each of which needs the result of the one before. The "
                "chain is timed at two lengths. The difference of the times over the difference of the lengths is "
                "the latency, free of the cost of reading the clock.",
            .needs = {},
            .provides = {"operations[*].latency", "operations[*].instructions", "pipelines.*.latency"},
            .run = arithmetic_latency::run};
}

}  // namespace gputomo::experiments
