// Code that runs for the first time in a launch: how much of it the launch itself fetches, and what the rest takes.
#include "experiments/experiments.hpp"

#include "deduce/pipeline/code_supply.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/code_fetch/straight_code.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::experiments {
namespace cold_code {
namespace {

constexpr auto kPrefetch = "launch.code_prefetch", kMemory = "paths.instruction.memory_latency";
/// A judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Caches of instructions that are looked at for what a miss fetches ahead.
constexpr int kMostCaches = 4;

results::Trace trace_of(const std::vector<CodePassage>& passages, std::string_view place) {
    results::Trace trace{.name = fmt::format("cold_code/from_{}", place), .experiment = "cold_code"};
    trace.columns = {{"offset", "bytes", {}}, {"cycles", "cycles", {}}};
    for (const auto& passage : passages) trace.add_row(passage.to, passage.cycles);
    trace.plot = {.title = fmt::format("Cycles between two clock reads in code that comes from {}", place),
                  .x = "offset",
                  .y = {"cycles"}};
    return trace;
}

std::vector<deduce::CodePiece> pieces_of(const std::vector<CodePassage>& passages) {
    std::vector<deduce::CodePiece> pieces;
    for (const auto& passage : passages) pieces.push_back({passage.from, passage.to, passage.cycles});
    return pieces;
}

/// The leaf's number, or its only candidate: levels of code stay undecided where they may be those of constants.
std::optional<double> only_number(const Findings& findings, const std::string& path) {
    const auto* const estimate = findings.find(path);
    if (estimate == nullptr) return std::nullopt;
    if (estimate->known()) return findings.number(path);
    return estimate->candidates.size() == 1 ? as_number(estimate->candidates.front()) : std::nullopt;
}

/// Bytes that one miss brings: a line and what is fetched ahead of it. 0 if that is not known.
std::uint64_t bytes_of_miss(const Findings& findings) {
    for (int level = 1; level <= kMostCaches; ++level) {
        const auto cache = fmt::format("caches.instruction_l{}", level);
        const auto line = only_number(findings, cache + ".line"),
                   ahead = only_number(findings, cache + ".fetched_ahead");
        if (line && ahead) return static_cast<std::uint64_t>(*line + *ahead);
    }
    return 0;
}

void add_prefetch(const std::optional<deduce::CodeSupply>& supply, Outcome& outcome) {
    const Evidence evidence{
        "cold_code: where straight-line code that the L2 holds begins to arrive more slowly", kConfidence,
        supply ? fmt::format("{:.3f} cycles a byte before, {:.3f} behind", supply->near, supply->far)
               : "the code arrives equally fast everywhere"};
    if (!supply) return outcome.estimates.push_back(absent(kPrefetch, evidence));
    auto estimate = decided(kPrefetch, static_cast<std::int64_t>(supply->slow_from), evidence);
    estimate.interval = {static_cast<double>(supply->slow_from), static_cast<double>(supply->slow_to)};
    outcome.estimates.push_back(std::move(estimate));
}

void add_memory(Context& context, const std::vector<CodePassage>& passages, Outcome& outcome) {
    // Jumps through code that is larger than all caches show the latency alone.
    if (context.findings.number(kMemory)) return;
    const auto supply = deduce::slower_from(pieces_of(passages));
    if (!supply) return;
    const std::uint64_t bytes = bytes_of_miss(context.findings);
    if (bytes == 0) {
        outcome.warnings.emplace_back(
            "cold_code: the latency of code in memory stays unknown, because instruction_caches did not find what one "
            "miss fetches");
        return;
    }
    // The bytes that one miss brings are on their way at any time, while instructions issue.
    const double cycles = supply->far * static_cast<double>(bytes);
    outcome.estimates.push_back(decided(kMemory, static_cast<std::int64_t>(std::llround(cycles)),
                                        {"cold_code: rate of straight-line code that lies in memory, of which one miss "
                                         "keeps a known number of bytes on their way",
                                         kConfidence, fmt::format("{} bytes a miss", bytes)}));
}

Outcome measure(Context& context) {
    Outcome outcome;
    StraightCode code(context);
    add_code_checks(code.compiled(), outcome);
    const auto from_l2 = code.from_l2();
    if (from_l2.empty()) {
        outcome.warnings.emplace_back("cold_code: the compiler changed the code, so that nothing was measured");
        return outcome;
    }
    outcome.traces.push_back(trace_of(from_l2, "the L2"));
    add_prefetch(deduce::slower_from(pieces_of(from_l2)), outcome);
    const auto from_memory = code.from_memory();
    if (from_memory.empty()) return outcome;
    outcome.traces.push_back(trace_of(from_memory, "memory"));
    add_memory(context, from_memory, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace cold_code

Experiment cold_code_experiment() {
    return {.id = "cold_code",
            .title = "code that runs for the first time in a launch",
            .source = "gputomo",
            .method = "instruction-supply",
            .explanation =
                "One warp runs once through 128 KiB of code and reads the clock on its way. Before, other code has "
                "evicted it from the caches of instructions, and then a buffer from the L2 as well. The first part is "
                "fast where a launch fetches it before its first block. Behind it, each miss waits for the L2 or for "
                "memory.",
            .needs = {},
            .after = {"clock", "instruction_caches"},
            .provides = {cold_code::kPrefetch, cold_code::kMemory},
            .run = cold_code::run};
}

}  // namespace gputomo::experiments
