// The clock register: the cost of a read, its step, its rate, and which SMs share one.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_scope.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/kernel/clock_kernels.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace gputomo::experiments {
namespace clock {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.99;
/// Runs of the loop that measures the rate.
constexpr int kSpinRuns = 5;
/// If runs differ by more than this share, up to `kUnsteadySpinRuns` are measured. The extremes of five say little: one
/// time in sixteen all five lie on the same side of the true rate.
constexpr double kSteady = 1e-4;
constexpr int kUnsteadySpinRuns = 15;
/// Cycles of the shorter and the longer loop. Their difference, some milliseconds, excludes the cost of a launch.
constexpr std::uint32_t kShortSpin = 1'000'000;
constexpr std::uint32_t kLongSpin = 5'000'000;

/// The commonest difference of neighbouring readings, because pairs with an interruption are rare.
std::int64_t commonest_step(const std::vector<std::int64_t>& differences) {
    std::map<std::int64_t, int> counts;
    for (const auto difference : differences) ++counts[difference];
    return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
}

void add_read_cost(Context& context, Outcome& outcome) {
    context.progress(0, "back-to-back clock reads");
    const auto readings = read_clocks(context.device);
    outcome.code_checks.insert(outcome.code_checks.end(), readings.code_checks.begin(), readings.code_checks.end());
    const std::int64_t cost = commonest_step(readings.back_to_back);
    std::int64_t step = 0;
    for (const auto difference : readings.all) step = std::gcd(step, difference);
    auto estimate =
        decided("clock.read_cost", cost, {"clock: commonest difference of two back-to-back reads, warm", kConfidence});
    const auto [low, high] = std::ranges::minmax(readings.back_to_back);
    estimate.interval = {static_cast<double>(std::min(low, cost)), static_cast<double>(std::max(high, cost))};
    outcome.estimates.push_back(std::move(estimate));
    outcome.estimates.push_back(decided(
        "clock.resolution", step,
        {"clock: greatest common divisor of differences of an SM's readings, around loads and over several launches",
         0.95}));
}

void add_rate(Context& context, Outcome& outcome) {
    Spinner spinner(context.device);
    add_code_checks(spinner.compiled(), outcome);
    std::vector<double> rates;
    const auto steady = [&] { return summarise(rates).spread() < kSteady * summarise(rates).value; };
    for (int i = 0; i < kSpinRuns || (i < kUnsteadySpinRuns && !steady()); ++i) {
        context.progress(0.2 + 0.6 * i / kUnsteadySpinRuns, "clock against wall time");
        const auto shorter = spinner.run(kShortSpin);
        const auto longer = spinner.run(kLongSpin);
        // Cycles per microsecond are MHz.
        rates.push_back(static_cast<double>(longer.cycles - shorter.cycles) /
                        (longer.elapsed - shorter.elapsed).count() * 1000);
    }
    outcome.estimates.push_back(
        decided_real("clock.sm_mhz", summarise(rates),
                     {"clock: cycles against event time, long spin less short spin", kConfidence}));
}

Outcome measure(Context& context) {
    Outcome outcome;
    add_rate(context, outcome);
    add_read_cost(context, outcome);
    context.progress(0.9, "which SMs share a clock");
    for (auto& estimate : clock_scope_estimates(clock_groups(block_starts(context.device, 1))))
        outcome.estimates.push_back(std::move(estimate));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace clock

Experiment clock_experiment() {
    return {.id = "clock",
            .title = "cost, step and rate of the clock register, and which SMs share one",
            .source = "Wong 2010, IV-A, Fig. 5",
            .method = "registers-and-launch",
            .explanation =
                "A thread reads the clock register twice in a row, which gives the cost of a read, and many times, "
                "which gives its step. All SMs read it at once, which shows which of them share a register. Its "
                "rate is the number of cycles of a long loop over the time between two events.",
            .needs = {},
            .provides = {"clock.read_cost", "clock.resolution", "clock.sm_mhz", "clock.scope", "topology.sms_per_tpc",
                         "topology.sms_per_gpc"},
            .run = clock::run};
}

}  // namespace gputomo::experiments
