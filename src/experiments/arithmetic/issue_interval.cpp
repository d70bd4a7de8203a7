#include "experiments/arithmetic/issue_interval.hpp"

#include "measure/throughput/saturated_issue.hpp"
#include "measure/throughput/timed_chains.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kIntervalConfidence = 0.97;
/// Launches of each loop, whose median counts. More take longer; fewer let one outlier count.
constexpr int kLaunches = 2;
/// Machine instructions of a loop's body. Shorter bodies count more of the loop's control.
constexpr int kLoopBody = 240;
/// If latency allows this much more than is seen, latency is not the limit. Smaller excesses may be errors.
constexpr double kBeyondLatency = 0.1;
/// Warps without independent instructions lose some issue slots to chance. A loss beyond this share means that a warp
/// issues several instructions at once.
constexpr double kChanceLoss = 0.25;
/// Issue slots of other warps that a load displaces: one or more if all slots are taken. If some are free it displaces
/// none but those of the adds of its loop.
constexpr double kDisplaced = 0.7;

class Interval {
public:
    Interval(Context& context, const SchedulerTimings& timings, Outcome& outcome)
        : context_(context), timings_(timings), outcome_(outcome) {}

    /// Runs instructions of several units together, each as often as its unit takes it. If the SM issues fewer than the
    /// units could take, issue is the limit.
    void report() {
        context_.progress(0.8, "several units at once");
        std::vector<TimedOperation> operations;
        std::vector<double> rates;
        double possible = 0;
        for (const auto& operation :
             {timings_.add, timed_pipelines(target_of(context_.device))[1].operation, idle_operation()}) {
            const auto alone = rate({{operation, kLoopBody, 2}});
            if (!alone) continue;
            operations.push_back(operation);
            rates.push_back(*alone);
            possible += *alone;
        }
        const double together = rate(mixed(operations, rates, possible)).value_or(rates[0]);
        const double dependent = *rate({{timings_.add, kLoopBody, 1}});
        const double by_steps = timings_.schedulers / timings_.slot;
        const std::string text = fmt::format(
            "adds alone {:.3g} per cycle; with special functions{} {:.3g}, of {:.3g} that "
            "their units take",
            rates[0], operations.size() > 2 ? " and shared memory" : "", together, possible);
        // The steps over the number of warps give the rate of adds already. A loop that contradicts them, or the rates
        // of the units, was disturbed.
        if (together > (1 + kIssueError) * possible || rates[0] > (1 + kBeyondLatency) * by_steps ||
            dependent > (1 + kBeyondLatency) * rates[0]) {
            outcome_.warnings.push_back(fmt::format(
                "issue: the issue interval is left out because rates contradict each other: {}; dependent adds {:.3g} "
                "per cycle; the steps of {} schedulers allow {:.3g}. Run the experiment again on an idle GPU.",
                text, dependent, timings_.schedulers, by_steps));
            return;
        }
        report({together, rates[0], dependent, together < (1 - kIssueError) * possible}, text);
    }

private:
    /// Instructions of an SM per cycle.
    struct Rates {
        double together = 0;       ///< of several units
        double independent = 0;    ///< adds, with independent instructions in each warp
        double dependent = 0;      ///< adds, each waiting for the one before
        bool below_units = false;  ///< whether `together` is less than the units could take
    };
    struct Saturated {
        double per_scheduler = 0;  ///< instructions of all kinds, per cycle
        bool full = false;         ///< whether further loads take slots from other instructions
        Evidence evidence;
    };

    /// Instructions per cycle of an SM; nullopt if the compiler removed loads of an address that was loaded before.
    [[nodiscard]] std::optional<double> rate(std::vector<LoopPart> parts) {
        int count = 0;
        for (const auto& part : parts) count += part.count;
        ChainLoop loop(context_.device, std::move(parts));
        if (!loop.keeps_idle_loads()) return std::nullopt;
        warps_ = most_warps(loop.compiled(), timings_.warp_size);
        add_code_checks(loop.compiled(), outcome_);
        std::vector<double> samples;
        for (int i = 0; i < kLaunches; ++i)
            samples.push_back(count / loop.cycles_per_iteration(warps_, timings_.warp_size));
        return summarise(samples).value;
    }

    /// A loop with each operation as often as its unit takes it.
    [[nodiscard]] static std::vector<LoopPart> mixed(const std::vector<TimedOperation>& operations,
                                                     const std::vector<double>& rates, double sum) {
        std::vector<LoopPart> parts;
        for (std::size_t i = 0; i < operations.size(); ++i)
            parts.push_back(
                {operations[i], std::max(4, static_cast<int>(std::lround(kLoopBody * rates[i] / sum / 4)) * 4), 2});
        return parts;
    }

    /// Instructions of one warp that a scheduler issues at once: the ratio of its rates with independent and with
    /// dependent instructions. Intervals are whole cycles, so more than one instruction per cycle means several at once
    /// too.
    [[nodiscard]] std::int64_t width(double per_scheduler, const Rates& rates) const {
        const double warps = std::floor(static_cast<double>(warps_) / timings_.schedulers);
        const bool full = warps / timings_.latency > (1 + kBeyondLatency) * rates.dependent / timings_.schedulers;
        const double more = full ? std::ceil(rates.independent / rates.dependent - kChanceLoss) : 1;
        return static_cast<std::int64_t>(
            std::max(more, std::ceil(std::max(per_scheduler, 1 / timings_.slot) - kIssueError)));
    }

    void report(const Rates& rates, const std::string& text) {
        const double per_scheduler = std::max(rates.together, rates.independent) / timings_.schedulers;
        const Evidence evidence{"issue: instructions of three units together, per scheduler", kIntervalConfidence,
                                text};
        const auto at_once = width(per_scheduler, rates);
        const double interval = static_cast<double>(at_once) / per_scheduler;
        const double nearest = std::max(1.0, std::floor(interval * (1 + kIssueError)));
        const auto decide = [&](double cycles, const Evidence& why) {
            outcome_.estimates.push_back(decided("issue.issue_interval", cycles, why));
            outcome_.estimates.push_back(decided("issue.dual_issue", at_once, why));
        };
        if (nearest == 1) {
            decide(1, evidence);
        } else {
            const auto saturated = saturated_issue();
            const double most = saturated ? std::min(nearest, std::floor(static_cast<double>(at_once) /
                                                                         saturated->per_scheduler * (1 + kIssueError)))
                                          : nearest;
            if (saturated && saturated->full && most >= 1 &&
                is_near(static_cast<double>(at_once) / saturated->per_scheduler, most))
                decide(most, saturated->evidence);
            else if (rates.below_units && most == nearest && is_near(interval, nearest))
                decide(nearest, evidence);
            else
                leave_open("issue.issue_interval", static_cast<std::int64_t>(std::max(1.0, most)), evidence);
        }
        report_ilp_latency(at_once);
    }

    [[nodiscard]] static bool is_near(double interval, double whole) {
        return std::abs(interval - whole) <= kIssueError * whole;
    }

    /// Instructions that warps of one kind each issue; nothing if there are too few warps. A warp that alternates
    /// between units may wait where the units alone would take just what is issued; a warp of one kind waits for no
    /// other unit. Loads from memory share only the issue slots with adds and special functions. So they displace these
    /// if all slots are taken; if some are free they displace only the adds of their own loops.
    std::optional<Saturated> saturated_issue() try {
        context_.progress(0.9, "warps of one kind each");
        SaturatedIssue saturated(context_.device, timings_.schedulers);
        add_code_checks(saturated.compiled(), outcome_);
        if (!saturated.fits()) return std::nullopt;
        const auto without = saturated.rates(false), with = saturated.rates(true);
        results::Trace trace{.name = "issue/kinds", .experiment = "issue"};
        for (const auto* name : {"adds", "functions", "shared_loads", "global_loads", "loops"})
            trace.columns.push_back({name, "instructions/cycle", {}});
        for (const auto& rates : {without, with})
            trace.add_row(rates.adds, rates.functions, rates.shared_loads, rates.global_loads, rates.loops);
        outcome_.traces.push_back(std::move(trace));
        const double displaced = (without.units() + without.loops - with.units() - with.loops) / with.global_loads;
        const double slowed = std::max(with.adds / without.adds, with.functions / without.functions);
        return Saturated{
            with.all() / timings_.schedulers,
            displaced >= kDisplaced && slowed < 1 - kIssueError,
            {"issue: instructions of warps of one kind each", kIntervalConfidence,
             fmt::format("{:.3g} per cycle in all; {:.2g} of them load from memory, each in place of {:.2g} others",
                         with.all(), with.global_loads, displaced)}};
    } catch (const CodeMismatch& mismatch) {
        add_mismatch(mismatch, outcome_);
        return std::nullopt;
    }

    /// Every whole number of cycles from 1 to the one that was seen remains possible.
    void leave_open(std::string path, std::int64_t most, const Evidence& evidence) {
        std::vector<results::Value> candidates;
        for (std::int64_t cycles = most; cycles >= 1; --cycles) candidates.emplace_back(cycles);
        outcome_.estimates.push_back(undecided(std::move(path), std::move(candidates), evidence));
    }

    /// The instructions of one warp follow each other as closely as their unit takes them, or farther apart.
    void report_ilp_latency(std::int64_t width) {
        const double alone = timings_.alone, cycles = alone * static_cast<double>(width);
        const Evidence evidence{
            "issue: 1 to 8 chains of independent adds in one warp", kIntervalConfidence,
            fmt::format("{:.3g} cycles an instruction; its unit takes one every {:.3g}", alone, timings_.slot)};
        const auto nearest = static_cast<std::int64_t>(std::llround(cycles));
        const bool unit_hides = alone < (1 + kIssueError) * timings_.slot && nearest > 1;
        // `kMostIssueChains` chains do not cover a long latency.
        const bool latency_hides = alone * kMostIssueChains < (1 + kIssueError) * timings_.latency && nearest > 1;
        if (unit_hides || latency_hides || std::abs(cycles - static_cast<double>(nearest)) > kIssueError * cycles)
            leave_open("issue.ilp_latency", nearest, evidence);
        else
            outcome_.estimates.push_back(decided("issue.ilp_latency", nearest, evidence));
    }

    Context& context_;
    const SchedulerTimings& timings_;
    Outcome& outcome_;
    int warps_ = 1;  ///< of the loops
};

}  // namespace

void report_issue_interval(Context& context, const SchedulerTimings& timings, Outcome& outcome) {
    Interval(context, timings, outcome).report();
}

}  // namespace gputomo::experiments
