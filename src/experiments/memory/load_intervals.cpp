// How often an SM takes a load of constants, of textures and of global memory that its own caches serve.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/load_chase.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace load_intervals {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Launches of each point, whose median counts: it bears one disturbed launch.
constexpr int kLaunches = 3;
/// Independent loads of a thread in a crowd. With one, the warps of a block may be too few to hide the latency.
constexpr int kChains = 4;
/// All warps together must take this many times as long for a load as one warp alone. Otherwise each waits for its own
/// loads and not for those of others.
constexpr double kSaturated = 1.3;
/// An interval must exceed the time in which the instructions can issue by this factor: rates scatter by 2%.
constexpr double kAboveIssue = 1.05;
/// Cycles that a further transaction must add to the latency of a load to be reported. A clock read is a cycle, and
/// there are 31 further transactions.
constexpr double kLeastCost = 0.1;

struct PathOfLoads {
    LoadPath path;
    std::string_view name;  ///< in `paths`
    std::uint32_t stride;   ///< words from one transaction to the next: constants are served word by word
    int further;            ///< instructions that compute the address of a load
};
constexpr std::array kPaths{PathOfLoads{LoadPath::constant, "constant", 1, 1},
                            PathOfLoads{LoadPath::texture, "texture", 32, 0},
                            PathOfLoads{LoadPath::global, "global", 33, 1}};

/// Cycles between the loads of a chain, with all threads of a warp at one word and with each at its own transaction.
struct Pair {
    Measured same, apart;
};

class LoadIntervals {
public:
    LoadIntervals(Context& context, const PathOfLoads& path, Outcome& outcome)
        : context_(context), path_(path), outcome_(outcome) {}

    void run(results::Trace& trace) {
        LoadChase one_chain(context_.device, {path_.path, 1}), chains(context_.device, {path_.path, kChains});
        for (const auto* chase : {&one_chain, &chains}) add_code_checks(chase->compiled(), outcome_);
        report_cost(measure(one_chain, 1, trace));
        const int warps = chains.compiled().properties().max_threads_per_block / kWarpSize;
        const Pair one_warp = measure(chains, 1, trace), crowd = measure(chains, warps, trace);
        report("access_interval", one_warp.same, crowd.same, warps, 1);
        report("transaction_interval", one_warp.apart, crowd.apart, warps, kWarpSize);
    }

private:
    [[nodiscard]] Measured cycles(LoadChase& chase, int warps, std::uint32_t stride) const {
        std::vector<std::uint32_t> words;
        for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) words.push_back(lane * stride);
        std::vector<double> samples;
        for (int i = 0; i < (context_.quick ? 1 : kLaunches); ++i) samples.push_back(chase.cycles(warps, words));
        return summarise(samples);
    }

    [[nodiscard]] Pair measure(LoadChase& chase, int warps, results::Trace& trace) {
        const int chains = chase.shape().chains;
        const Pair pair{cycles(chase, warps, 0), cycles(chase, warps, path_.stride)};
        for (const auto& [apart, measured] : {std::pair{1, pair.same}, std::pair{kWarpSize, pair.apart}})
            trace.add_row(static_cast<int>(path_.path), apart, chains, warps, measured.value / (chains * warps));
        return pair;
    }

    [[nodiscard]] std::string leaf(std::string_view name) const { return fmt::format("paths.{}.{}", path_.name, name); }

    /// Cycles in which an SM issues a load and what computes its address; 0 if the issue rate is not known.
    [[nodiscard]] double issue_time() const {
        const auto schedulers = context_.findings.number("issue.schedulers_per_sm");
        if (!schedulers) return 0;
        const double load =
            path_.path == LoadPath::global ? context_.findings.number("paths.global.issue_slots").value_or(1) : 1;
        return (load + path_.further) * context_.findings.number("issue.issue_interval").value_or(1) / *schedulers;
    }

    void report_cost(const Pair& alone) {
        const double cost = (alone.apart.value - alone.same.value) / (kWarpSize - 1);
        if (path_.path == LoadPath::global || cost < kLeastCost) return;
        outcome_.estimates.push_back(decided_real(
            leaf("transaction_cost"),
            {cost, (alone.apart.low - alone.same.high) / (kWarpSize - 1),
             (alone.apart.high - alone.same.low) / (kWarpSize - 1)},
            {"load_intervals: chain of one warp whose threads load 32 words, less that of one word", kConfidence}));
    }

    void report(std::string_view name, const Measured& alone, const Measured& crowd, int warps, int transactions) {
        const double loads = static_cast<double>(kChains) * warps, all = loads * transactions;
        const std::string method = fmt::format(
            "load_intervals: {} warps with {} loads in flight each, {}", warps, kChains,
            transactions == 1 ? "all threads at one word" : "each thread at a transaction of its own, by transaction");
        std::string why;
        if (crowd.value < kSaturated * alone.value)
            why = fmt::format("a lone warp takes {:.3g} of {:.3g} cycles", alone.value, crowd.value);
        else if (crowd.value / loads < kAboveIssue * issue_time())
            why = fmt::format("issuing takes {:.3g} of {:.3g} cycles", issue_time(), crowd.value / loads);
        if (why.empty()) {
            outcome_.estimates.push_back(decided_real(
                leaf(name), {crowd.value / all, crowd.low / all, crowd.high / all}, {method, kConfidence}));
            return;
        }
        auto open = undecided(leaf(name), {}, {method, kConfidence});
        open.note = fmt::format("at most {:.3g}: {}", crowd.value / all, why);
        outcome_.estimates.push_back(std::move(open));
    }

    Context& context_;
    const PathOfLoads& path_;
    Outcome& outcome_;
};

/// Whether a cache of less than the whole GPU serves global loads; others do not stay in the SM.
bool stays_in_sm(const Findings& findings, const PathOfLoads& path) {
    if (path.path != LoadPath::global) return true;
    const auto names = names_of(findings, "paths.global.caches");
    if (names.empty()) return false;
    const auto* scope = findings.find(fmt::format("caches.{}.scope", names.front()));
    return scope != nullptr && scope->knowledge == results::Knowledge::known &&
           std::get<std::string>(scope->value) != "gpu";
}

Outcome measure(Context& context) {
    Outcome outcome;
    results::Trace trace{.name = "load_intervals/warps", .experiment = "load_intervals"};
    trace.columns = {{"path", "0 global, 1 constant, 2 texture", {}},
                     {"transactions", "count", {}},
                     {"chains", "count", {}},
                     {"warps", "count", {}},
                     {"interval", "cycles", {}}};
    trace.plot = {.title = "Cycles between loads of an SM against its warps, by path",
                  .x = "warps",
                  .y = {"interval"},
                  .split = "path"};
    for (std::size_t i = 0; i < kPaths.size(); ++i) {
        context.progress(static_cast<double>(i) / kPaths.size(), fmt::format("loads of the {} path", kPaths[i].name));
        if (!stays_in_sm(context.findings, kPaths[i])) continue;
        try {
            LoadIntervals(context, kPaths[i], outcome).run(trace);
        } catch (const CodeMismatch& mismatch) {
            add_mismatch(mismatch, outcome);
        }
    }
    outcome.traces.push_back(std::move(trace));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace load_intervals

Experiment load_intervals_experiment() {
    return {.id = "load_intervals",
            .title = "cycles between loads of constants, textures and global memory that an SM takes",
            .source = "gputomo; Volkov 2016, 6.3 for shared memory",
            .method = "load-intervals",
            .explanation =
                "All warps of an SM load the same words again and again from the nearest cache. First all threads of "
                "a warp are at one word, then each has a line, or a constant, of its own. The time from one load to "
                "the next is what the SM needs for it, unless issuing the instructions takes as long.",
            .needs = {},
            .after = {"clock", "issue", "issue_cost", "caches", "scopes"},
            .provides = {"paths.*.access_interval", "paths.*.transaction_interval", "paths.*.transaction_cost"},
            .run = load_intervals::run};
}

}  // namespace gputomo::experiments
