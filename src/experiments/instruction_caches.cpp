// The caches on the way to instructions.
#include "experiments/experiments.hpp"

#include "experiments/cached_path.hpp"
#include "experiments/clock_watch.hpp"
#include "experiments/instruction_chase.hpp"

#include <algorithm>

namespace gputomo::experiments {
namespace {

/// 96 KiB of code before compute capability 7.0, 192 KiB since; more takes seconds to compile.
constexpr std::uint32_t kSlots = 1536;
/// Cycles, or steps of the clock, by which two levels differ at least.
constexpr double kLeastStep = 3, kClockSteps = 1.5;

Outcome measure(Context& context) {
    Outcome outcome;
    InstructionChase chase(context, kSlots);
    chase.describe(0.1, "instructions");
    PathQuestion question{.experiment = "instruction_caches", .path = "instruction", .smallest = 1024, .largest = chase.room(), .room = chase.room(), .stride = chase.slot_bytes(), .word = chase.slot_bytes()};
    question.least_step = std::max(kLeastStep, kClockSteps * clock_step(context.findings));
    question.walk = [&](const auto& offsets, std::uint64_t warm, std::uint64_t loads, std::optional<std::uint32_t> sm) { return chase.walk(offsets, warm, loads, sm); };
    const auto findings = measure_caches(context, chase.chase(), question, outcome);
    chase.describe(0.8, "latency by SM");
    measure_latencies(context, findings, question, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment instruction_caches_experiment() {
    return {.id = "instruction_caches",
            .title = "caches on the way to instructions, and what they share with constants",
            .source = "Wong 2010, IV-K, Figs. 21-23",
            .needs = {},
            .after = {"clock", "constant_caches"},
            .provides = {"caches.*.latency", "caches.*.latency_range", "caches.*.capacity", "caches.*.line", "caches.*.sector", "caches.*.ways", "caches.*.sets",
                         "caches.*.index", "caches.*.policy", "paths.instruction.caches", "paths.instruction.memory_latency", "paths.instruction.memory_latency_range"},
            .run = run};
}

}  // namespace gputomo::experiments
