// Issue slots that special functions and loads take, as the number of adds of other warps that each displaces.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/co_issue.hpp"
#include "measure/throughput/forwarding_chain.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gputomo::experiments {
namespace issue_cost {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Launches of each point on a GPU, the median of which counts. The small budget has one.
constexpr int kLaunches = 3;
/// Groups of warps beside the adds, of the eight groups of 1024 threads.
constexpr int kMostBusy = 3;
/// If adds alone fill less than this share of the issue slots, other instructions take free slots and displace nothing.
constexpr double kFull = 0.9;
/// Share by which issue slots differ between launches and choices of registers.
constexpr double kScatter = 0.02;
/// If a smaller share of register pairs lies in one bank, bank conflicts cost less than the scatter.
constexpr double kLeastShare = 0.1;
/// Other instructions that are rarer than this share of the adds show nothing.
constexpr double kLeastOthers = 0.005;

struct Leaf {
    CoIssued beside;
    std::string_view name;
    std::string_view path;
};
constexpr std::array kLeaves{Leaf{CoIssued::sfu, "sfu", "pipelines.sfu.issue_slots"},
                             Leaf{CoIssued::shared, "shared", "shared.issue_slots"},
                             Leaf{CoIssued::global, "global", "paths.global.issue_slots"}};

struct Forward {
    CoIssued beside;
    std::string_view path;
};
constexpr std::array kForwards{Forward{CoIssued::sfu, "pipelines.sfu.forward_latency"},
                               Forward{CoIssued::shared, "shared.forward_latency"}};

class IssueCost {
public:
    explicit IssueCost(Context& context) : context_(context) {}

    Outcome run() {
        const auto schedulers = context_.findings.number("issue.schedulers_per_sm");
        slots_ = schedulers ? *schedulers / context_.findings.number("issue.issue_interval").value_or(1) : 0;
        for (const auto& leaf : kLeaves) add(leaf);
        if (const auto add_latency = context_.findings.number("pipelines.sp.latency"))
            for (const auto& [beside, path] : kForwards) forward(beside, path, *add_latency);
        return std::move(outcome_);
    }

private:
    [[nodiscard]] CoIssueRates usual(CoIssueLoop& loop, int busy, bool others) const {
        std::vector<CoIssueRates> samples;
        const int launches = context_.budget == measure::Budget::full ? kLaunches : 1;
        for (int i = 0; i < launches; ++i) samples.push_back(loop.rates(busy, others));
        std::ranges::sort(samples, {}, &CoIssueRates::adds);
        return samples[samples.size() / 2];
    }

    /// Issue slots of adds that each other instruction displaces. The loops' own instructions add to both alike.
    [[nodiscard]] double displaced(const CoIssueRates& alone, const CoIssueRates& together) const {
        const double add = slots_ > 0 ? slots_ / alone.adds : 1;
        return (alone.adds - together.adds) / together.others * add - (add - 1);
    }

    /// An instruction takes at least one slot; a smaller number comes from slots that the adds left empty. A larger one
    /// comes from registers that share a bank.
    [[nodiscard]] static results::Estimate estimate(const Leaf& leaf, double slots, std::optional<double> share) {
        const bool shares = share.value_or(0) >= kLeastShare;
        const double value = std::max(1.0, shares ? 1 + (slots - 1) / *share : slots),
                     scatter = kScatter / (shares ? *share : 1);
        const std::string note =
            share ? fmt::format("{:.2f} slots, with {:.0f}% of the registers in the same bank as those of the adds",
                                slots, 100 * *share)
                  : "";
        return decided_real(
            std::string(leaf.path), {value, std::max(1.0, value - scatter), value + scatter},
            {"issue_cost: dependent adds of other warps that each instruction displaces, bank conflicts included",
             kConfidence, note});
    }

    void add(const Leaf& leaf) try {
        CoIssueLoop loop(context_.device, leaf.beside);
        add_code_checks(loop.compiled(), outcome_);
        results::Trace trace{.name = fmt::format("issue_cost/{}", leaf.name), .experiment = "issue_cost"};
        trace.columns = {{"others", "instructions/cycle", {}},
                         {"adds", "instructions/cycle", {}},
                         {"adds_alone", "instructions/cycle", {}},
                         {"slots", "count", {}}};
        // With the fewest other warps, most warps add, and no other warp waits for another.
        std::optional<double> fewest;
        for (int busy = 1; busy <= std::min(context_.quick ? 1 : kMostBusy, loop.groups() - 1); ++busy) {
            context_.progress(static_cast<double>(busy) / kMostBusy,
                              fmt::format("{}, {} warps", leaf.name, busy * CoIssueLoop::kGroup));
            const auto alone = usual(loop, busy, false), together = usual(loop, busy, true);
            if (together.others < kLeastOthers * alone.adds) continue;
            const double slots = displaced(alone, together);
            if (slots_ > 0 && alone.adds >= kFull * slots_ && !fewest) fewest = slots;
            trace.add_row(together.others, together.adds, alone.adds, slots);
        }
        trace.plot = {fmt::format("Issue slots that {} displaces", leaf.name), "others", {"slots"}, false, false};
        outcome_.traces.push_back(std::move(trace));
        if (fewest) outcome_.estimates.push_back(estimate(leaf, *fewest, loop.bank_overlap()));
    } catch (const CodeMismatch& mismatch) {
        add_mismatch(mismatch, outcome_);
    }

    /// The latency of the instruction to an add: the time of both together less the latency between adds.
    void forward(CoIssued beside, std::string_view path, double add_latency) try {
        ForwardingChain chain(context_.device, beside);
        add_code_checks(chain.kernel(), outcome_);
        const double cycles = chain.cycles() - add_latency;
        outcome_.estimates.push_back(decided_integer(
            std::string(path), {cycles, cycles, cycles},
            {"issue_cost: alternating chain of this instruction and an add by one thread, less the latency of the add",
             kConfidence}));
    } catch (const CodeMismatch& mismatch) {
        add_mismatch(mismatch, outcome_);
    }

    Context& context_;
    double slots_ = 0;  ///< of an SM, per cycle
    Outcome outcome_;
};

Outcome measure(Context& context) { return IssueCost(context).run(); }
Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace issue_cost

Experiment issue_cost_experiment() {
    return {.id = "issue_cost",
            .title = "issue slots that special functions and loads take, and their latency to an add",
            .source = "Volkov 2016, 4.7",
            .method = "arithmetic-and-issue",
            .explanation =
                "Warps of dependent adds fill the issue slots. Beside them, one, two and three warps of each "
                "scheduler execute only special functions, or only loads. The number of adds that one such "
                "instruction displaces is the number of issue slots that it takes.",
            .needs = {},
            .after = {"issue", "arithmetic_latency"},
            .provides = {"pipelines.sfu.issue_slots", "shared.issue_slots", "paths.global.issue_slots",
                         "pipelines.sfu.forward_latency", "shared.forward_latency"},
            .run = issue_cost::run};
}

}  // namespace gputomo::experiments
