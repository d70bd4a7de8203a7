// Which unit executes each operation, from pairs of operations that run together.
#include "experiments/experiments.hpp"

#include "deduce/pipeline/functional_units.hpp"
#include "experiments/arithmetic/rates.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/timed_chains.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.95;
/// Where the issue limit hides a unit it is the one that explains everything with the fewest units.
constexpr double kHiddenConfidence = 0.6;
/// Machine instructions of a loop's body, so that its control doesn't count, and that two kinds are mixed.
constexpr int kBody = 96;
/// Operations come in fours: two chains, which have an even number of steps.
constexpr int kQuantum = 4;
constexpr int kChains = 2;
constexpr int kMostQuanta = 16;
constexpr int kLaunches = 3;
/// Instructions of a turn that are not of its operations: counter, comparison, branch and a copy.
constexpr double kLoopControl = 4;

/// An operation with what is known of it.
struct Row {
    TimedOperation operation;
    double cycles = 0;  ///< of an SM, for one warp's operation
    int size = 1;       ///< machine instructions
};

struct Mix {
    int first = kQuantum;
    int second = kQuantum;
};

/// Numbers of both operations that take equally long, as nearly as a body of some length allows.
Mix balanced(const Row& first, const Row& second) {
    Mix best;
    double least = -1;
    for (int a = 1; a <= kMostQuanta; ++a)
        for (int b = 1; b <= kMostQuanta; ++b) {
            if (a > 1 && b > 1 && kQuantum * (a * first.size + b * second.size) > kBody) continue;
            // One part in twenty is as good as equal; beyond that the shorter body is better.
            const double off =
                std::max(0.05, std::abs(std::log(a * first.cycles / (b * second.cycles)))) + 0.001 * (a + b);
            if (least < 0 || off < least) best = {kQuantum * a, kQuantum * b};
            least = least < 0 ? off : std::min(least, off);
        }
    const int times = std::max(1, kBody / (best.first * first.size + best.second * second.size));
    return {best.first * times, best.second * times};
}

/// The pipelines' own operations first: their names are known.
struct Rows {
    std::vector<Row> all;
    std::size_t of_pipelines = 0;
};

Rows rows_of(const Context& context) {
    Rows rows;
    const auto add = [&](const TimedOperation& operation, double rate) {
        rows.all.push_back({operation, warp_size_of(context.device) / rate, size_of(context.findings, operation)});
    };
    const auto target = target_of(context.device);
    std::set<std::string_view> seen;
    for (const auto& [name, operation] : timed_pipelines(target)) {
        seen.insert(operation.name);
        if (const auto lanes = context.findings.number(fmt::format("pipelines.{}.lanes", name))) add(operation, *lanes);
    }
    rows.of_pipelines = rows.all.size();
    for (const auto& operation : timed_operations(target, context.quick)) {
        if (operation.code.find(';') != std::string_view::npos) continue;  // a sequence has the units of its parts
        const auto rate = context.findings.number(fmt::format("operations[{}].throughput", operation.name));
        if (rate && !seen.contains(operation.name)) add(operation, *rate);
    }
    return rows;
}

std::vector<LoopPart> parts_of(const Row& first, const Row& second) {
    const Mix mix = balanced(first, second);
    return {{first.operation, mix.first, kChains}, {second.operation, mix.second, kChains}};
}

void compile_pair_ahead(device::Device& device, const Row& first, const Row& second) {
    if (device.compiles_ahead())
        device.compile_ahead(chain_loop_kernel(target_of(device), parts_of(first, second)).text());
}

class UnitExperiment {
public:
    explicit UnitExperiment(Context& context)
        : context_(context), warp_size_(warp_size_of(context.device)), rows_(rows_of(context).all) {}

    Outcome run() {
        find_issue_limit();
        // Twice, because operations that come first have not met the units that were found after them.
        for (int pass = 0; pass < 2; ++pass)
            for (std::size_t row = 0; row < rows_.size(); ++row) {
                context_.progress((pass + static_cast<double>(row) / static_cast<double>(rows_.size())) / 2,
                                  rows_[row].operation.name);
                pair_with_all(row);
            }
        report();
        return std::move(outcome_);
    }

private:
    /// Units seldom fill the issue slots by themselves; loads that keep none of them busy come between. What pairs
    /// issue faster corrects it. Compilers drop loads of what they loaded before, so the loads count only where the
    /// machine code has them all.
    void find_issue_limit() {
        if (rows_.empty()) return;
        issued_per_cycle_ = 1 / rows_.front().cycles;
        for (const int loads : {1, 2, 3}) {
            constexpr int kQuarter = 24;
            const int other = 4 - loads;
            ChainLoop loop(context_.device, {{rows_.front().operation, kQuarter * other, kChains},
                                             {idle_operation(), kQuarter * loads, kChains}});
            if (!loop.keeps_idle_loads()) continue;
            issued_per_cycle_ =
                std::max(issued_per_cycle_, (kQuarter * (other + loads) + kLoopControl) / cycles_of(loop));
        }
    }

    void pair_with_all(std::size_t row) {
        try {
            while (const auto unit = map_.next(row))
                map_.add(row, *unit, pair(row, map_.units()[*unit].representative));
        } catch (const CodeMismatch& mismatch) {
            return add_mismatch(mismatch, outcome_);
        }
        if (rows_[row].size > 1 || map_.verdict(row).use != deduce::UnitUse::none) return;
        map_.add_unit(std::string(rows_[row].operation.family), row);
        for (std::size_t i = 1; i < rows_.size(); ++i)
            compile_pair_ahead(context_.device, rows_[(row + i) % rows_.size()], rows_[row]);
    }

    deduce::Interference pair(std::size_t one, std::size_t other) {
        const Row& first = rows_[one];
        const Row& second = rows_[other];
        const auto parts = parts_of(first, second);
        ChainLoop loop(context_.device, parts);
        const double together = cycles_of(loop);
        const double instructions = parts[0].count * first.size + parts[1].count * second.size + kLoopControl;
        // Counts of routines hold code that is skipped.
        if (first.size == 1 && second.size == 1)
            issued_per_cycle_ = std::max(issued_per_cycle_, instructions / together);
        const deduce::PairTiming timing{parts[0].count * first.cycles, parts[1].count * second.cycles, together,
                                        instructions / issued_per_cycle_};
        const auto found = deduce::interference(timing);
        trace_row(one, other, timing, found);
        return found;
    }

    [[nodiscard]] double cycles_of(ChainLoop& loop) const {
        const int warps = most_warps(loop.compiled(), warp_size_);
        std::vector<double> samples;
        for (int i = 0; i < kLaunches; ++i) samples.push_back(loop.cycles_per_iteration(warps, warp_size_));
        return summarise(samples).value;
    }

    void trace_row(std::size_t one, std::size_t other, const deduce::PairTiming& timing,
                   const deduce::Interference& found) {
        const double values[] = {
            static_cast<double>(one), static_cast<double>(other),         timing.first, timing.second,
            timing.together,          found.measurable ? found.share : -1};
        for (std::size_t i = 0; i < std::size(values); ++i) trace_.columns[i].values.push_back(values[i]);
    }

    void report() {
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            if (context_.findings.find(fmt::format("operations[{}].throughput", rows_[row].operation.name)) == nullptr)
                continue;
            report_units(row);
            report_instructions(row);
        }
        report_pipelines();
        outcome_.traces.push_back(std::move(trace_));
    }

    /// In the order in which units were found, so that scans say the same.
    [[nodiscard]] std::vector<std::string> names(std::vector<std::size_t> units) const {
        std::ranges::sort(units);
        std::vector<std::string> names;
        for (const auto unit : units) names.push_back(map_.units()[unit].name);
        return names;
    }

    /// "sp 0.71, sfu 0.29, dpu 0"
    [[nodiscard]] std::string shares_text(std::size_t row) const {
        std::vector<std::string> parts;
        for (const auto& [unit, found] : map_.pairs(row))
            parts.push_back(found.measurable
                                ? fmt::format("{} {:.2g}", map_.units()[unit].name, std::round(100 * found.share) / 100)
                                : fmt::format("{} hidden by issue", map_.units()[unit].name));
        return fmt::format("shares of its rate: {}", fmt::join(parts, ", "));
    }

    void report_units(std::size_t row) {
        const auto verdict = map_.verdict(row);
        const std::string path = fmt::format("operations[{}].units", rows_[row].operation.name);
        Evidence evidence{"arithmetic_units: pairs of operations in one loop, beside each other or in turns",
                          kConfidence, shares_text(row)};
        switch (verdict.use) {
            case deduce::UnitUse::single: report_single(path, row, verdict.units.front(), evidence); break;
            case deduce::UnitUse::alternatives:
                evidence.note = "either unit takes it; " + evidence.note;
                outcome_.estimates.push_back(decided(path, names(verdict.units), evidence));
                break;
            case deduce::UnitUse::all:
                // One machine instruction has one unit: what else it gets in the way of may be how it is dispatched.
                if (rows_[row].size == 1) {
                    std::vector<results::Value> candidates{names({verdict.units.front()}), names(verdict.units)};
                    if (may_have_own(row, verdict.units.front()))
                        candidates.emplace_back(std::vector{std::string(rows_[row].operation.family)});
                    outcome_.estimates.push_back(undecided(path, std::move(candidates), evidence));
                    break;
                }
                evidence.note = "each operation needs all of them; " + evidence.note;
                outcome_.estimates.push_back(decided(path, names(verdict.units), evidence));
                break;
            case deduce::UnitUse::issue_limited: report_hidden(path, verdict, evidence); break;
            case deduce::UnitUse::unexplained: {
                auto with_other = names(verdict.units);
                with_other.emplace_back("unknown");
                // Warps that issue two instructions at once do so less often in a mixture: that looks like a partly
                // shared unit too.
                outcome_.estimates.push_back(undecided(
                    path, {names(verdict.units), with_other, std::vector{std::string(rows_[row].operation.family)}},
                    evidence));
                break;
            }
            case deduce::UnitUse::none: outcome_.estimates.push_back(undecided(path, {}, evidence)); break;
        }
    }

    /// One machine instruction that takes turns with a unit's simplest one, at a lower rate: the unit executes it more
    /// slowly, or a unit of its own does and dispatching to that keeps the other waiting. Nothing that can be timed
    /// tells which.
    [[nodiscard]] bool may_have_own(std::size_t row, std::size_t unit) const {
        const auto& operation = rows_[row].operation;
        const bool one_instruction =
            rows_[row].size == 1 &&
            context_.findings.find(fmt::format("operations[{}].instructions", operation.name)) != nullptr;
        return one_instruction && rows_[row].cycles > kSlower * rows_[map_.units()[unit].representative].cycles &&
               operation.family != map_.units()[unit].name;
    }

    void report_single(const std::string& path, std::size_t row, std::size_t unit, Evidence evidence) {
        if (!may_have_own(row, unit)) return outcome_.estimates.push_back(decided(path, names({unit}), evidence));
        evidence.note = "it takes turns with that unit, at a rate of its own; " + evidence.note;
        outcome_.estimates.push_back(
            undecided(path, {names({unit}), std::vector{std::string(rows_[row].operation.family)}}, evidence));
    }

    /// The issue limit hides whether the operation shares a unit: with one such unit, that one needs no further one to
    /// explain anything.
    void report_hidden(const std::string& path, const deduce::UnitVerdict& verdict, Evidence evidence) {
        std::vector<results::Value> candidates;
        for (const auto unit : verdict.units) candidates.emplace_back(names({unit}));
        if (candidates.size() > 1) return outcome_.estimates.push_back(undecided(path, candidates, evidence));
        evidence.confidence = kHiddenConfidence;
        evidence.note = "both fill the issue slots, so that a unit of its own would not show; " + evidence.note;
        outcome_.estimates.push_back(decided(path, candidates.front(), evidence));
    }

    /// Where there is no machine code: how many of its unit's latencies and of its unit's turns an operation takes.
    void report_instructions(std::size_t row) {
        const auto& operation = rows_[row].operation;
        const std::string path = fmt::format("operations[{}].instructions", operation.name);
        const auto verdict = map_.verdict(row);
        if (context_.findings.find(path) != nullptr || verdict.units.empty() ||
            verdict.use == deduce::UnitUse::unexplained)
            return;
        const Row& simplest = rows_[map_.units()[verdict.units.front()].representative];
        const auto latency = context_.findings.number(fmt::format("operations[{}].latency", operation.name));
        const auto unit_latency = unit_latency_of(verdict.units.front());
        if (!latency || !unit_latency) return;
        const double by_latency = *latency / *unit_latency;
        const double by_rate = rows_[row].cycles / simplest.cycles;
        const auto lowest =
            std::max<std::int64_t>(1, std::lround(std::floor(std::min(by_latency, by_rate) + kNearlyWhole)));
        const auto highest =
            std::max<std::int64_t>(1, std::lround(std::ceil(std::max(by_latency, by_rate) - kNearlyWhole)));
        const Evidence evidence{"arithmetic_units: latency and time in units of its unit's simplest operation",
                                kConfidence,
                                fmt::format("{:.3g} latencies, {:.3g} turns of {}", by_latency, by_rate,
                                            map_.units()[verdict.units.front()].name)};
        if (lowest == highest) return outcome_.estimates.push_back(decided(path, lowest, evidence));
        std::vector<results::Value> candidates;
        for (auto count = lowest; count <= highest; ++count) candidates.emplace_back(count);
        outcome_.estimates.push_back(undecided(path, candidates, evidence));
    }

    [[nodiscard]] std::optional<double> unit_latency_of(std::size_t unit) const {
        const auto& name = map_.units()[unit].name;
        if (const auto known = context_.findings.number(fmt::format("pipelines.{}.latency", name))) return known;
        return context_.findings.number(
            fmt::format("operations[{}].latency", rows_[map_.units()[unit].representative].operation.name));
    }

    /// Units that no pipeline of the scan stands for yet.
    void report_pipelines() {
        for (std::size_t unit = 0; unit < map_.units().size(); ++unit) {
            const auto& [name, representative] = map_.units()[unit];
            const Row& row = rows_[representative];
            if (context_.findings.find(fmt::format("pipelines.{}.lanes", name)) != nullptr) continue;
            const Evidence evidence{
                fmt::format("arithmetic_units: {} is executed beside all other units", row.operation.name),
                kConfidence};
            outcome_.estimates.push_back(
                rate_estimate(fmt::format("pipelines.{}.lanes", name), whole_lanes(warp_size_ / row.cycles), evidence));
            const auto* latency = context_.findings.find(fmt::format("operations[{}].latency", row.operation.name));
            if (latency == nullptr) continue;
            outcome_.estimates.push_back(*latency);
            outcome_.estimates.back().path = fmt::format("pipelines.{}.latency", name);
        }
    }

    static constexpr double kSlower = 1.25;
    /// Ratios of measured latencies and rates are a few percent off a whole number.
    static constexpr double kNearlyWhole = 0.1;

    Context& context_;
    int warp_size_;
    std::vector<Row> rows_;
    double issued_per_cycle_ = 0;  ///< machine instructions of an SM: the most seen so far
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

/// Units are represented by the pipelines' operations, as long as they are not one and the same.
void compile_ahead(const Context& context) {
    const auto rows = rows_of(context);
    for (std::size_t row = 0; row < rows.all.size(); ++row)
        for (std::size_t other = 0; other < rows.of_pipelines; ++other)
            if (row != other) compile_pair_ahead(context.device, rows.all[row], rows.all[other]);
}

Outcome measure(Context& context) { return UnitExperiment(context).run(); }

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

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
        .run = run,
        .compile_ahead = compile_ahead,
        .compile_after = "arithmetic_throughput"};
}

}  // namespace gputomo::experiments
