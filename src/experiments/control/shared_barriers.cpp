// Barriers in shared memory (mbarrier): what a check takes, when an arrival is seen, and fences.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/asynchronous/asynchronous_module.hpp"
#include "results/estimates.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace shared_barriers {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.95;
/// Rounds of the chains and fences in the kernels; the first of them finds no code in the caches.
constexpr std::size_t kRounds = 6;
/// Turns that two threads take; more make the ends of the loop a smaller part.
constexpr std::uint32_t kTurns = 256;
/// Launches for one latency: the fastest bears all disturbances but those of every launch.
constexpr int kLaunches = 5;
/// Stall counts beside what is timed: between two checks, and from a check to the arrival behind it. A warp's turn also
/// has a BSYNC, which takes as long as an untaken branch.
constexpr double kChain = 14, kTurn = 10, kTurnOfBlocks = 10;

/// The fastest of several launches, each `cycles(words)`.
template <class Cycles>
Measured fastest(Context& context, AsynchronousModule& kernels, std::string_view kernel, const AsynchronousGrid& grid,
                 std::size_t words, const std::vector<std::uint32_t>& arguments, Cycles cycles,
                 device::Address data = 0) {
    std::vector<double> samples;
    for (int i = 0; i < kLaunches; ++i) {
        context.progress(0.5, kernel);
        samples.push_back(cycles(kernels.run(kernel, grid, words, arguments, data)));
    }
    const auto [least, most] = std::ranges::minmax(samples);
    return {least, least, most};
}

/// Cycles of one of the operations of which a chain has 8 and then 16: the fastest round, without the first.
double of_chain(const std::vector<std::uint32_t>& words, std::size_t first) {
    double best = 0;
    for (std::size_t round = 1; round < kRounds; ++round) {
        const double each = (static_cast<double>(words[4 * round + first + 1]) - words[4 * round + first]) / 8;
        best = round == 1 ? each : std::min(best, each);
    }
    return best;
}

/// Cycles of one of two turns, of the fastest of the later times.
double of_turns(const std::vector<std::uint32_t>& words) { return std::min(words[1], words[2]) / (2.0 * kTurns); }

void add(Outcome& outcome, const std::string& path, Measured measured, double without, const char* method) {
    const double value = std::max(0.0, measured.value - without);
    outcome.estimates.push_back(
        decided_integer(path, {value, value, std::max(value, measured.high - without)}, {method, kConfidence}));
}

Outcome measure(Context& context) {
    if (!executes_asynchronous_kernels(context.device)) {
        context.progress(1, "does not apply: the kernels are for compute capability 9.0");
        return {};
    }
    Outcome outcome;
    AsynchronousModule kernels(context.device);
    results::Trace trace{.name = "shared_barriers/times", .experiment = "shared_barriers"};
    trace.columns = {{"what", "index", {}}, {"cycles", "cycles", {}}};
    const double shared = *context.findings.number("shared.latency");
    const auto check = fastest(context, kernels, "barrier_chains", {}, 4 * kRounds, {},
                               [](const auto& words) { return of_chain(words, 2); });
    const auto warps = fastest(context, kernels, "turns_of_warps", {.threads = 64}, 3, {kTurns}, of_turns);
    const auto blocks =
        fastest(context, kernels, "turns_of_blocks", {.blocks = 2, .threads = 1, .cluster = 2}, 3, {kTurns}, of_turns);
    const double checked = check.value - kChain;
    add(outcome, "operations[mbarrier.try_wait].latency", check, shared + kChain,
        "shared_barriers: chains of 8 and 16 checks that succeed, less a load from shared memory");
    add(outcome, "operations[mbarrier.arrive].latency", warps,
        checked + kTurn + *context.findings.number("issue.branch_latency_untaken"),
        "shared_barriers: two warps that take turns at two barriers, less the checks");
    add(outcome, "operations[mbarrier.arrive:cluster].latency", blocks, checked + kTurnOfBlocks,
        "shared_barriers: two blocks of a cluster that take turns at two barriers, less the checks");
    double index = 0;
    for (const auto& measured : {check, warps, blocks}) trace.add_row(index++, measured.value);
    trace.plot = {.title = "Cycles of a check, of a turn of two warps, and of a turn of two blocks",
                  .x = "what",
                  .y = {"cycles"}};
    outcome.traces.push_back(std::move(trace));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace shared_barriers

Experiment shared_barriers_experiment() {
    return {.id = "shared_barriers",
            .title = "barriers in shared memory (mbarrier): checks, arrivals within an SM and in a cluster",
            .source = "PTX ISA 9.7.13.15",
            .method = "asynchronous-operations",
            .explanation =
                "One thread checks a barrier whose phase has ended, again and again, each time at an address that the "
                "last check selected. Then two warps, and two blocks of a cluster, take turns at two barriers. What a "
                "turn takes beyond a check is the time until an arrival is seen.",
            .needs = {"shared_latency", "control_flow"},
            .after = {},
            .provides = {"operations[*].latency"},
            .run = shared_barriers::run};
}

}  // namespace gputomo::experiments
