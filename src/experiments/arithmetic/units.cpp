// Which unit executes each operation, from pairs of operations that run together.
#include "experiments/experiments.hpp"

#include "deduce/pipeline/functional_units.hpp"
#include "experiments/arithmetic/rates.hpp"
#include "experiments/arithmetic/unit_pairs.hpp"
#include "experiments/arithmetic/unit_report.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/timed_chains.hpp"
#include "results/estimates.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace arithmetic_units {
namespace {

/// Launches of each loop, whose median counts. More take longer; fewer let one outlier count.
constexpr int kLaunches = 3;
/// Instructions of a loop iteration besides its operations: counter, comparison, branch and a copy.
constexpr double kLoopControl = 4;

class UnitPairing {
public:
    explicit UnitPairing(Context& context)
        : context_(context), warp_size_(warp_size_of(context.device)), operations_(rated_operations(context).all) {}

    Outcome run() {
        find_issue_limit();
        // The second pass pairs the operations that came first with the units that were found after them.
        constexpr int kPasses = 2;
        for (int pass = 0; pass < kPasses; ++pass)
            for (std::size_t i = 0; i < operations_.size(); ++i) {
                context_.progress((pass + static_cast<double>(i) / static_cast<double>(operations_.size())) / kPasses,
                                  operations_[i].operation.name);
                pair_with_all(i);
            }
        report_units(context_, operations_, map_, outcome_);
        outcome_.traces.push_back(std::move(trace_));
        return std::move(outcome_);
    }

private:
    /// Sets a first value of the issue limit, which pairs that issue faster correct. A unit seldom fills the issue
    /// slots alone, so loads that keep no unit busy are mixed in. Compilers remove loads of an address that was loaded
    /// before, so a mix counts only if the machine code has all its loads.
    void find_issue_limit() {
        if (operations_.empty()) return;
        issued_per_cycle_ = 1 / operations_.front().cycles;
        for (const int loads : {1, 2, 3}) {
            // 96 instructions in all: the loop's own four then take 4% of the time, and the code fits the smallest
            // first instruction cache, 4 KB (Wong 2010, IV-K). Two chains keep a warp issuing while another waits.
            constexpr int kQuarter = 24;
            constexpr int kChains = 2;
            const int other = 4 - loads;
            ChainLoop loop(context_.device, {{operations_.front().operation, kQuarter * other, kChains},
                                             {idle_operation(), kQuarter * loads, kChains}});
            if (!loop.keeps_idle_loads()) continue;
            issued_per_cycle_ =
                std::max(issued_per_cycle_, (kQuarter * (other + loads) + kLoopControl) / cycles_of(loop));
        }
    }

    /// Pairs the operation with the representative of each unit. If no unit delays it, it represents a new one.
    void pair_with_all(std::size_t operation) {
        try {
            while (const auto unit = map_.next(operation))
                map_.add(operation, *unit, pair(operation, map_.units()[*unit].representative));
        } catch (const CodeMismatch& mismatch) {
            return add_mismatch(mismatch, outcome_);
        }
        if (operations_[operation].size > 1 || map_.verdict(operation).use != deduce::UnitUse::none) return;
        map_.add_unit(std::string(operations_[operation].operation.family), operation);
        for (std::size_t i = 1; i < operations_.size(); ++i)
            compile_pair_ahead(context_.device, operations_[(operation + i) % operations_.size()],
                               operations_[operation]);
    }

    deduce::Interference pair(std::size_t one, std::size_t other) {
        const RatedOperation& first = operations_[one];
        const RatedOperation& second = operations_[other];
        const auto parts = balanced_loop(first, second);
        ChainLoop loop(context_.device, parts);
        const double together = cycles_of(loop);
        const double instructions = parts[0].count * first.size + parts[1].count * second.size + kLoopControl;
        // The instruction count of a routine includes code that is skipped, so only single instructions correct the
        // issue limit.
        if (first.size == 1 && second.size == 1)
            issued_per_cycle_ = std::max(issued_per_cycle_, instructions / together);
        const deduce::PairTiming timing{parts[0].count * first.cycles, parts[1].count * second.cycles, together,
                                        instructions / issued_per_cycle_};
        const auto found = deduce::interference(timing);
        trace_.add_row(one, other, timing.first, timing.second, timing.together, found.measurable ? found.share : -1);
        return found;
    }

    [[nodiscard]] double cycles_of(ChainLoop& loop) const {
        const int warps = most_warps(loop.compiled(), warp_size_);
        std::vector<double> samples;
        for (int i = 0; i < kLaunches; ++i) samples.push_back(loop.cycles_per_iteration(warps, warp_size_));
        return summarise(samples).value;
    }

    Context& context_;
    int warp_size_;
    std::vector<RatedOperation> operations_;
    double issued_per_cycle_ = 0;  ///< most machine instructions that an SM issued per cycle so far
    deduce::UnitMap map_;
    Outcome outcome_;
    results::Trace trace_{.name = "arithmetic_units/pairs",
                          .experiment = "arithmetic_units",
                          .columns = {{"first", "row", {}},
                                      {"second", "row", {}},
                                      {"first alone", "cycles", {}},
                                      {"second alone", "cycles", {}},
                                      {"together", "cycles", {}},
                                      {"share", "", {}}}};
};

/// Compiles the pair of each operation with the representative of each pipeline. Some pairs are not needed if two
/// pipelines turn out to be one unit.
void compile_ahead(const Context& context) {
    const auto operations = rated_operations(context);
    for (std::size_t i = 0; i < operations.all.size(); ++i)
        for (std::size_t other = 0; other < operations.of_pipelines; ++other)
            if (i != other) compile_pair_ahead(context.device, operations.all[i], operations.all[other]);
}

Outcome measure(Context& context) { return UnitPairing(context).run(); }

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace arithmetic_units

Experiment arithmetic_units_experiment() {
    return {
        .id = "arithmetic_units",
        .title = "which unit executes each operation, from pairs that run together",
        .source = "Wong 2010, IV-B, Tables III and IV (which guess)",
        .method = "arithmetic-and-issue",
        .explanation =
            "Pairs of operations run together. Two operations that take no longer together than one of them "
            "alone use different units. Two that take as long as one after the other share a unit.",
        .needs = {"arithmetic_throughput"},
        .after = {"arithmetic_latency"},
        .provides = {"operations[*].units", "operations[*].instructions", "pipelines.*.lanes", "pipelines.*.latency"},
        .run = arithmetic_units::run,
        .compile_ahead = arithmetic_units::compile_ahead,
        .compile_after = "arithmetic_throughput"};
}

}  // namespace gputomo::experiments
