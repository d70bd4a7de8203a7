// Schedulers of an SM and how often each issues, from how many warps get in each other's way.
#include "experiments/experiments.hpp"

#include "deduce/pipeline/schedulers.hpp"
#include "experiments/arithmetic/rates.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/saturated_issue.hpp"
#include "measure/throughput/timed_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.97;
constexpr int kMostSchedulers = 16;
constexpr int kMostWarps = 24;
constexpr int kLaunches = 2;
/// A number of schedulers is decided where it leaves this little unexplained (root mean square), and the next best this
/// much, and this many times as much.
constexpr double kExplained = 0.03;
constexpr double kUnexplained = 0.012;
constexpr double kTimesWorse = 2;
/// Rates and times are known to about this part.
constexpr double kRounding = 0.04;
/// Where warps would give this much more than is seen, it is not their latency that limits them.
constexpr double kUnhidden = 0.1;
/// Warps without independent instructions lose some slots to chance; beyond this part it is not chance.
constexpr double kNearlyOne = 0.25;
/// Independent chains that are tried in one warp.
constexpr int kMostChains = 8;
constexpr int kChains[] = {1, 2, 3, 4, 6, kMostChains};
/// Enough of them to fill a scheduler from few warps; more make warps of current GPUs drift apart.
constexpr int kFilling = 4;
constexpr int kLoopBody = 240;
/// Chains of one warp that keep a unit busy. With less than this part of the time that its scheduler's share of the
/// lanes takes it must have had more; with as much, to this part, it had that.
constexpr int kUnitChains[] = {4, kMostChains};
constexpr double kLessThanShare = 0.8;
constexpr double kNearShare = 0.1;
/// Slots of other warps that a load takes where all are taken: one or more. Where some are free, none but what its loop
/// takes of the adds' unit.
constexpr double kDisplaced = 0.7;

class IssueExperiment {
public:
    explicit IssueExperiment(Context& context)
        : context_(context),
          add_(timed_pipelines(target_of(context.device)).front().operation),
          warp_size_(warp_size_of(context.device)) {}

    Outcome run() {
        one_warp();
        schedulers();
        if (schedulers_ > 1) scopes();
        if (schedulers_ > 0) interval();
        return std::move(outcome_);
    }

private:
    /// Cycles between independent instructions of one warp; short chains wait for results instead.
    void one_warp() {
        results::Trace trace{.name = "issue/one_warp", .experiment = "issue"};
        trace.columns = {{"chains", "count", {}}, {"cycles", "cycles/instruction", {}}};
        for (const int chains : kChains) {
            context_.progress(0.1, fmt::format("one warp, {} chains", chains));
            DoubledChain kernel(context_.device, add_, {.length = 48 / chains / 2 * 2, .chains = chains});
            add_code_checks(kernel.compiled(), outcome_);
            trace.columns[0].values.push_back(chains);
            trace.columns[1].values.push_back(warp_size_ / kernel.throughput(1, warp_size_));
        }
        latency_ = trace.columns[1].values.front();
        alone_ = std::ranges::min(trace.columns[1].values);
        trace.plot = {"Cycles between instructions of one warp", "chains", {"cycles"}, false, false};
        outcome_.traces.push_back(std::move(trace));
    }

    void schedulers() {
        DoubledChain kernel(context_.device, add_, {.length = 16, .chains = kFilling});
        add_code_checks(kernel.compiled(), outcome_);
        results::Trace trace{.name = "issue/warps", .experiment = "issue"};
        trace.columns = {{"warps", "count", {}}, {"cycles", "cycles/instruction", {}}};
        std::vector<deduce::SchedulerSample> samples;
        const int most = std::min(kMostWarps, most_warps(kernel.compiled(), warp_size_));
        for (int warps = 1; warps <= most; ++warps) {
            context_.progress(0.2 + 0.5 * warps / most, fmt::format("{} warps", warps));
            std::vector<double> cycles;
            for (int i = 0; i < kLaunches; ++i)
                cycles.push_back(warps * warp_size_ / kernel.throughput(warps, warp_size_));
            samples.push_back({static_cast<double>(warps), *std::ranges::min_element(cycles)});
            trace.columns[0].values.push_back(warps);
            trace.columns[1].values.push_back(samples.back().cycles);
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
            fmt::format("{} explain it to {:.1f}%, {} to {:.1f}%{}", best.schedulers, 100 * best.error, next.schedulers,
                        100 * next.error,
                        best.schedulers == 1 ? "; several that share all their lanes would look the same" : "")};
        if (best.error > kExplained || next.error < std::max(kUnexplained, kTimesWorse * best.error)) {
            outcome_.estimates.push_back(undecided(
                "issue.schedulers_per_sm", {std::int64_t{best.schedulers}, std::int64_t{next.schedulers}}, evidence));
            return;
        }
        schedulers_ = best.schedulers;
        slot_ = best.issue_cycles;
        outcome_.estimates.push_back(decided("issue.schedulers_per_sm", std::int64_t{schedulers_}, evidence));
    }

    /// One warp, whose instructions all come from one scheduler, keeps its share of a unit's lanes busy, or all of them
    /// where the schedulers share them.
    void scopes() {
        results::Trace trace{.name = "issue/units_of_one_warp", .experiment = "issue"};
        trace.columns = {{"share", "cycles/instruction", {}},
                         {"all", "cycles/instruction", {}},
                         {"measured", "cycles/instruction", {}}};
        for (const auto& [name, operation] : timed_pipelines(target_of(context_.device))) {
            const auto lanes = context_.findings.number(fmt::format("pipelines.{}.lanes", name));
            if (!lanes) continue;
            context_.progress(0.75, fmt::format("{} of one warp", name));
            double measured = std::numeric_limits<double>::infinity();
            for (const int chains : kUnitChains) {
                DoubledChain kernel(context_.device, operation, {.length = 48 / chains / 2 * 2, .chains = chains});
                add_code_checks(kernel.compiled(), outcome_);
                measured = std::min(measured, warp_size_ / kernel.throughput(1, warp_size_));
            }
            const double all = warp_size_ / *lanes, share = all * schedulers_;
            const double row[] = {share, all, measured};
            for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
            if (const auto scope = scope_of(share, measured))
                outcome_.estimates.push_back(decided(
                    fmt::format("pipelines.{}.scope", name), std::string(*scope),
                    {"issue: independent instructions of one warp", kConfidence,
                     fmt::format(
                         "one every {:.3g} cycles; a scheduler's share of the lanes takes {:.3g}, all take {:.3g}",
                         measured, share, all)}));
        }
        outcome_.traces.push_back(std::move(trace));
    }

    /// Nothing where something else than the unit may hold one warp back as long.
    [[nodiscard]] std::optional<std::string_view> scope_of(double share, double measured) const {
        if (measured < kLessThanShare * share) return "sm";
        if (alone_ < kLessThanShare * share && std::abs(measured - share) <= kNearShare * share) return "scheduler";
        return std::nullopt;
    }

    /// Instructions per cycle of an SM; nothing where the compiler dropped loads of what was loaded before.
    [[nodiscard]] std::optional<double> rate(std::vector<LoopPart> parts) {
        int count = 0;
        for (const auto& part : parts) count += part.count;
        ChainLoop loop(context_.device, std::move(parts));
        if (!loop.keeps_idle_loads()) return std::nullopt;
        most_warps_ = most_warps(loop.compiled(), warp_size_);
        add_code_checks(loop.compiled(), outcome_);
        std::vector<double> samples;
        for (int i = 0; i < kLaunches; ++i)
            samples.push_back(count / loop.cycles_per_iteration(most_warps_, warp_size_));
        return summarise(samples).value;
    }

    /// Each operation as often as its unit takes it.
    [[nodiscard]] static std::vector<LoopPart> mixed(const std::vector<TimedOperation>& operations,
                                                     const std::vector<double>& rates, double sum) {
        std::vector<LoopPart> parts;
        for (std::size_t i = 0; i < operations.size(); ++i)
            parts.push_back(
                {operations[i], std::max(4, static_cast<int>(std::lround(kLoopBody * rates[i] / sum / 4)) * 4), 2});
        return parts;
    }

    /// Instructions of several units together, each as often as its unit takes it: if the SM issues fewer than the
    /// units could take, it is the issue that limits them.
    void interval() {
        context_.progress(0.8, "several units at once");
        std::vector<TimedOperation> operations;
        std::vector<double> rates;
        double possible = 0;
        for (const auto& operation :
             {add_, timed_pipelines(target_of(context_.device))[1].operation, idle_operation()}) {
            const auto alone = rate({{operation, kLoopBody, 2}});
            if (!alone) continue;
            operations.push_back(operation);
            rates.push_back(*alone);
            possible += *alone;
        }
        const double together = rate(mixed(operations, rates, possible)).value_or(rates[0]);
        const double dependent = *rate({{add_, kLoopBody, 1}});
        const std::string text =
            fmt::format("adds alone {:.3g} per cycle; with SFU{} {:.3g}, of {:.3g} that their units take", rates[0],
                        operations.size() > 2 ? " and shared memory" : "", together, possible);
        // Adds alone are known from the steps already; what contradicts them, or the units, was not measured well.
        if (together > (1 + kRounding) * possible || rates[0] > (1 + kUnhidden) * schedulers_ / slot_ ||
            dependent > (1 + kUnhidden) * rates[0]) {
            outcome_.warnings.push_back(
                fmt::format("issue: nothing is said of the interval: {}, dependent adds {:.3g}, and {:.3g} from the "
                            "steps of {} schedulers",
                            text, dependent, schedulers_ / slot_, schedulers_));
            return;
        }
        report({together, rates[0], dependent, together < (1 - kRounding) * possible}, text);
    }

    /// Instructions of a warp that a scheduler issues at once: as many times more as it issues of warps with
    /// independent instructions than of warps without any. Intervals are whole cycles, so that more than one
    /// instruction per cycle means several at once as well.
    [[nodiscard]] std::int64_t width(double per_scheduler, double independent, double dependent) const {
        const double warps = std::floor(static_cast<double>(most_warps_) / schedulers_);
        const bool full = warps / latency_ > (1 + kUnhidden) * dependent / schedulers_;
        const double more = full ? std::ceil(independent / dependent - kNearlyOne) : 1;
        return static_cast<std::int64_t>(std::max(more, std::ceil(std::max(per_scheduler, 1 / slot_) - kRounding)));
    }

    struct Rates {
        double together = 0;     ///< of several units
        double independent = 0;  ///< adds of a warp
        double dependent = 0;
        bool limited = false;  ///< not by the units
    };
    void report(Rates rates, const std::string& text) {
        const double per_scheduler = std::max(rates.together, rates.independent) / schedulers_;
        const Evidence evidence{"issue: instructions of three units together, per scheduler", kConfidence, text};
        const auto at_once = width(per_scheduler, rates.independent, rates.dependent);
        const double interval = static_cast<double>(at_once) / per_scheduler;
        const double nearest = std::max(1.0, std::floor(interval * (1 + kRounding)));
        const auto decide = [&](double cycles, const Evidence& why) {
            outcome_.estimates.push_back(decided("issue.issue_interval", cycles, why));
            outcome_.estimates.push_back(decided("issue.dual_issue", at_once, why));
        };
        if (nearest == 1) {
            decide(1, evidence);
        } else {
            const auto saturated = issued_by_crowd();
            const double most = saturated ? std::min(nearest, std::floor(static_cast<double>(at_once) /
                                                                         saturated->per_scheduler * (1 + kRounding)))
                                          : nearest;
            if (saturated && saturated->full && most >= 1 &&
                is_near(static_cast<double>(at_once) / saturated->per_scheduler, most))
                decide(most, saturated->evidence);
            else if (rates.limited && most == nearest && is_near(interval, nearest))
                decide(nearest, evidence);
            else
                leave_open("issue.issue_interval", static_cast<std::int64_t>(std::max(1.0, most)), evidence);
        }
        ilp_latency(at_once);
    }

    [[nodiscard]] static bool is_near(double interval, double whole) {
        return std::abs(interval - whole) <= kRounding * whole;
    }

    struct Issued {
        double per_scheduler = 0;  ///< instructions of all kinds, per cycle
        bool full = false;         ///< further loads take slots from the others
        Evidence evidence;
    };
    /// Warps in which units take turns may wait where units alone would take just what is issued. Warps of one kind
    /// each wait for no other unit. Loads from memory besides then take slots from adds and special functions, with
    /// which they share nothing else, where all slots are taken; where some are free, none but for the adds of their
    /// loops. Nothing where there are too few warps.
    [[nodiscard]] std::optional<Issued> issued_by_crowd() try {
        context_.progress(0.9, "warps of one kind each");
        SaturatedIssue saturated(context_.device, schedulers_);
        add_code_checks(saturated.compiled(), outcome_);
        if (!saturated.fits()) return std::nullopt;
        const auto without = saturated.rates(false), with = saturated.rates(true);
        results::Trace trace{.name = "issue/kinds", .experiment = "issue"};
        for (const auto* name : {"adds", "functions", "shared_loads", "global_loads", "loops"})
            trace.columns.push_back({name, "instructions/cycle", {}});
        for (const auto& rates : {without, with}) {
            const double row[] = {rates.adds, rates.functions, rates.shared_loads, rates.global_loads, rates.loops};
            for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
        }
        outcome_.traces.push_back(std::move(trace));
        const double displaced = (without.units() + without.loops - with.units() - with.loops) / with.global_loads;
        const double slowed = std::max(with.adds / without.adds, with.functions / without.functions);
        return Issued{
            with.all() / schedulers_,
            displaced >= kDisplaced && slowed < 1 - kRounding,
            {"issue: instructions of warps of one kind each", kConfidence,
             fmt::format("{:.3g} a cycle in all; {:.2g} of them load from memory, each in place of {:.2g} others",
                         with.all(), with.global_loads, displaced)}};
    } catch (const CodeMismatch& mismatch) {
        add_mismatch(mismatch, outcome_);
        return std::nullopt;
    }

    /// Anything from one cycle to what was seen.
    void leave_open(std::string path, std::int64_t most, const Evidence& evidence) {
        std::vector<results::Value> candidates;
        for (std::int64_t cycles = most; cycles >= 1; --cycles) candidates.emplace_back(cycles);
        outcome_.estimates.push_back(undecided(std::move(path), std::move(candidates), evidence));
    }

    /// One warp's instructions come as closely as the unit takes them, or farther apart.
    void ilp_latency(std::int64_t width) {
        const double cycles = alone_ * static_cast<double>(width);
        const Evidence evidence{
            "issue: 1 to 8 chains of independent adds in one warp", kConfidence,
            fmt::format("{:.3g} cycles an instruction; its unit takes one every {:.3g}", alone_, slot_)};
        const auto nearest = static_cast<std::int64_t>(std::llround(cycles));
        const bool unit_hides = alone_ < (1 + kRounding) * slot_ && nearest > 1;
        // So many chains do not cover a long latency.
        const bool latency_hides = alone_ * kMostChains < (1 + kRounding) * latency_ && nearest > 1;
        if (unit_hides || latency_hides || std::abs(cycles - static_cast<double>(nearest)) > kRounding * cycles)
            leave_open("issue.ilp_latency", nearest, evidence);
        else
            outcome_.estimates.push_back(decided("issue.ilp_latency", nearest, evidence));
    }

    Context& context_;
    TimedOperation add_;
    int warp_size_;
    int schedulers_ = 0;
    int most_warps_ = 1;  ///< of the loops
    double latency_ = 0;  ///< cycles, of an add
    double slot_ = 0;     ///< cycles of a scheduler for an add
    double alone_ = 0;    ///< cycles between independent adds of one warp
    Outcome outcome_;
};

Outcome measure(Context& context) { return IssueExperiment(context).run(); }
Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

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
            .run = run};
}

}  // namespace gputomo::experiments
