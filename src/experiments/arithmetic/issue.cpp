// Schedulers of an SM and how often each issues, from how many warps delay each other.
#include "experiments/experiments.hpp"

#include "deduce/pipeline/schedulers.hpp"
#include "experiments/arithmetic/issue_interval.hpp"
#include "experiments/arithmetic/rates.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/timed_chains.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace issue {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.97;
/// Schedulers of the models that are compared; no GPU so far has more than 4 on an SM.
constexpr int kMostSchedulers = 16;
/// Warps of the largest launch: six steps of four schedulers.
constexpr int kMostWarps = 24;
/// Launches of each number of warps, the fastest of which counts.
constexpr int kLaunches = 2;
/// A number of schedulers is decided if it leaves at most `kExplained` unexplained (root mean square), and the next
/// best at least `kUnexplained` and `kTimesWorse` times as much. Looser limits decide between models that noise
/// separates.
constexpr double kExplained = 0.03;
constexpr double kUnexplained = 0.012;
constexpr double kTimesWorse = 2;
/// Independent chains that are tried in one warp.
constexpr int kChains[] = {1, 2, 3, 4, 6, kMostIssueChains};
/// Chains of a warp in the sweep over warps: they fill a scheduler from few warps. With more, the warps of current GPUs
/// drift apart.
constexpr int kFilling = 4;
/// Machine instructions of a chain kernel's body in one warp, over all chains, and of each chain in the sweep.
constexpr int kBody = 48, kSweepLength = 16;
/// Chains of one warp that keep a unit busy.
constexpr int kUnitChains[] = {4, kMostIssueChains};
/// A warp that takes less than this share of the time that its scheduler's lanes would take uses other lanes too. A
/// time that differs by at most `kNearShare` from it is that time.
constexpr double kLessThanShare = 0.8;
constexpr double kNearShare = 0.1;

class Schedulers {
public:
    explicit Schedulers(Context& context)
        : context_(context),
          timings_{.add = timed_pipelines(target_of(context.device)).front().operation,
                   .warp_size = warp_size_of(context.device)} {}

    Outcome run() {
        time_one_warp();
        count_schedulers();
        if (timings_.schedulers > 1) find_scopes();
        if (timings_.schedulers > 0) report_issue_interval(context_, timings_, outcome_);
        return std::move(outcome_);
    }

private:
    /// Cycles of one warp for an instruction, with this many independent chains.
    double cycles_of_one_warp(const TimedOperation& operation, int chains) {
        DoubledChain kernel(context_.device, operation, {.length = kBody / chains / 2 * 2, .chains = chains});
        add_code_checks(kernel.compiled(), outcome_);
        return timings_.warp_size / kernel.throughput(1, timings_.warp_size);
    }

    /// Measures the cycles between instructions of one warp: its latency with one chain, its issue with many.
    void time_one_warp() {
        results::Trace trace{.name = "issue/one_warp", .experiment = "issue"};
        trace.columns = {{"chains", "count", {}}, {"cycles", "cycles/instruction", {}}};
        for (const int chains : kChains) {
            context_.progress(0.1, fmt::format("one warp, {} chains", chains));
            trace.add_row(chains, cycles_of_one_warp(timings_.add, chains));
        }
        timings_.latency = trace.columns[1].values.front();
        timings_.alone = std::ranges::min(trace.columns[1].values);
        trace.plot = {"Cycles between instructions of one warp", "chains", {"cycles"}, false, false};
        outcome_.traces.push_back(std::move(trace));
    }

    /// Finds the steps in the time of more and more warps: all warps take longer once the fullest scheduler gets
    /// another.
    void count_schedulers() {
        DoubledChain kernel(context_.device, timings_.add, {.length = kSweepLength, .chains = kFilling});
        add_code_checks(kernel.compiled(), outcome_);
        results::Trace trace{.name = "issue/warps", .experiment = "issue"};
        trace.columns = {{"warps", "count", {}}, {"cycles", "cycles/instruction", {}}};
        std::vector<deduce::SchedulerSample> samples;
        const int most = std::min(kMostWarps, most_warps(kernel.compiled(), timings_.warp_size));
        for (int warps = 1; warps <= most; ++warps) {
            context_.progress(0.2 + 0.5 * warps / most, fmt::format("{} warps", warps));
            double fastest = std::numeric_limits<double>::infinity();
            for (int i = 0; i < kLaunches; ++i)
                fastest = std::min(fastest, warps * timings_.warp_size / kernel.throughput(warps, timings_.warp_size));
            samples.push_back({static_cast<double>(warps), fastest});
            trace.add_row(warps, fastest);
        }
        trace.plot = {
            "Cycles of each warp's instruction until the last warp is done", "warps", {"cycles"}, false, false};
        outcome_.traces.push_back(std::move(trace));
        report_schedulers(deduce::scheduler_fits(samples, kMostSchedulers));
    }

    void report_schedulers(const std::vector<deduce::SchedulerFit>& fits) {
        if (fits.size() < 2) return;
        const auto &best = fits[0], &next = fits[1];
        const Evidence evidence{
            "issue: steps in the time of 1 to 24 warps of independent adds", kConfidence,
            fmt::format(
                "{} schedulers explain it with an error of {:.1f}%, {} with {:.1f}%{}", best.schedulers,
                100 * best.error, next.schedulers, 100 * next.error,
                best.schedulers == 1 ? "; several schedulers that share all their lanes would look the same" : "")};
        if (best.error > kExplained || next.error < std::max(kUnexplained, kTimesWorse * best.error)) {
            outcome_.estimates.push_back(undecided(
                "issue.schedulers_per_sm", {std::int64_t{best.schedulers}, std::int64_t{next.schedulers}}, evidence));
            return;
        }
        timings_.schedulers = best.schedulers;
        timings_.slot = best.issue_cycles;
        outcome_.estimates.push_back(decided("issue.schedulers_per_sm", std::int64_t{timings_.schedulers}, evidence));
    }

    /// All instructions of one warp come from one scheduler. They use that scheduler's share of a unit's lanes, or all
    /// lanes if the schedulers share them.
    void find_scopes() {
        results::Trace trace{.name = "issue/units_of_one_warp", .experiment = "issue"};
        trace.columns = {{"share", "cycles/instruction", {}},
                         {"all", "cycles/instruction", {}},
                         {"measured", "cycles/instruction", {}}};
        for (const auto& [name, operation] : timed_pipelines(target_of(context_.device))) {
            const auto lanes = context_.findings.number(fmt::format("pipelines.{}.lanes", name));
            if (!lanes) continue;
            context_.progress(0.75, fmt::format("{} of one warp", name));
            double measured = std::numeric_limits<double>::infinity();
            for (const int chains : kUnitChains) measured = std::min(measured, cycles_of_one_warp(operation, chains));
            const double whole_unit = timings_.warp_size / *lanes, share = whole_unit * timings_.schedulers;
            trace.add_row(share, whole_unit, measured);
            if (const auto scope = scope_of(share, measured))
                outcome_.estimates.push_back(
                    decided(fmt::format("pipelines.{}.scope", name), std::string(*scope),
                            {"issue: independent instructions of one warp", kConfidence,
                             fmt::format("one instruction every {:.3g} cycles; a scheduler's share of the lanes would "
                                         "take {:.3g}, all lanes {:.3g}",
                                         measured, share, whole_unit)}));
        }
        outcome_.traces.push_back(std::move(trace));
    }

    /// Scope of the unit; nullopt if something other than the unit may slow one warp as much.
    [[nodiscard]] std::optional<std::string_view> scope_of(double share, double measured) const {
        if (measured < kLessThanShare * share) return "sm";
        if (timings_.alone < kLessThanShare * share && std::abs(measured - share) <= kNearShare * share)
            return "scheduler";
        return std::nullopt;
    }

    Context& context_;
    SchedulerTimings timings_;
    Outcome outcome_;
};

Outcome measure(Context& context) { return Schedulers(context).run(); }
Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace issue

Experiment issue_experiment() {
    return {.id = "issue",
            .title = "schedulers of an SM, how often they issue, and how often one warp does",
            .source = "Volkov 2016, 3.7, Tables 2.6, 2.8",
            .method = "arithmetic-and-issue",
            .explanation =
                "More and more equal warps run independent adds. Whenever the number of warps passes a multiple of "
                "the number of schedulers, all of them take a step longer. Instructions of several units run "
                "together to show how often a scheduler issues. One warp with more and more independent chains "
                "shows how soon its instructions can follow each other.",
            .needs = {},
            .after = {"arithmetic_throughput"},
            .provides = {"issue.schedulers_per_sm", "issue.issue_interval", "issue.dual_issue", "issue.ilp_latency",
                         "pipelines.*.scope"},
            .run = issue::run};
}

}  // namespace gputomo::experiments
