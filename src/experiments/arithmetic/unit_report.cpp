#include "experiments/arithmetic/unit_report.hpp"

#include "experiments/arithmetic/rates.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace {

/// Confidence of a unit that pairs show, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kUnitConfidence = 0.95;
/// Confidence of the explanation with the fewest units where the issue limit hides whether there is another one.
constexpr double kIssueLimitedConfidence = 0.6;
/// An operation this many times slower than its unit's simplest one may have a unit of its own. Smaller differences are
/// errors of the rates.
constexpr double kSlower = 1.25;
/// A ratio this near to a whole number is that number: ratios of measured latencies and rates are a few percent off.
constexpr double kNearlyWhole = 0.1;

class Report {
public:
    Report(const Context& context, std::span<const RatedOperation> operations, const deduce::UnitMap& map,
           Outcome& outcome)
        : context_(context), operations_(operations), map_(map), outcome_(outcome) {}

    void add_all() {
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            if (context_.findings.find(leaf(i, "throughput")) == nullptr) continue;
            add_units(i);
            add_instructions(i);
        }
        add_pipelines();
    }

private:
    [[nodiscard]] std::string leaf(std::size_t operation, std::string_view name) const {
        return fmt::format("operations[{}].{}", operations_[operation].operation.name, name);
    }
    void add(results::Estimate estimate) { outcome_.estimates.push_back(std::move(estimate)); }

    /// Names in the order in which the units were found, which is the same in every scan.
    [[nodiscard]] std::vector<std::string> names(std::vector<std::size_t> units) const {
        std::ranges::sort(units);
        std::vector<std::string> names;
        for (const auto unit : units) names.push_back(map_.units()[unit].name);
        return names;
    }
    /// The unit that the operation would have to itself.
    [[nodiscard]] std::vector<std::string> own_unit(std::size_t operation) const {
        return {std::string(operations_[operation].operation.family)};
    }
    [[nodiscard]] const RatedOperation& simplest_of(std::size_t unit) const {
        return operations_[map_.units()[unit].representative];
    }

    /// "the units' shares of its rate: sp 0.71, sfu 0.29, dpu 0"
    [[nodiscard]] std::string shares_text(std::size_t operation) const {
        std::vector<std::string> parts;
        for (const auto& [unit, found] : map_.pairs(operation))
            parts.push_back(found.measurable
                                ? fmt::format("{} {:.2g}", map_.units()[unit].name, std::round(100 * found.share) / 100)
                                : fmt::format("{} not measurable below the issue limit", map_.units()[unit].name));
        return fmt::format("the units' shares of its rate: {}", fmt::join(parts, ", "));
    }

    void add_units(std::size_t operation) {
        const auto verdict = map_.verdict(operation);
        const std::string path = leaf(operation, "units");
        Evidence evidence{
            "arithmetic_units: time of pairs of operations in one loop, against the time of each operation alone",
            kUnitConfidence, shares_text(operation)};
        switch (verdict.use) {
            case deduce::UnitUse::single: return add_single(path, operation, verdict.units.front(), evidence);
            case deduce::UnitUse::alternatives:
                evidence.note = "either unit takes it; " + evidence.note;
                return add(decided(path, names(verdict.units), evidence));
            case deduce::UnitUse::all: return add_several(path, operation, verdict, evidence);
            case deduce::UnitUse::issue_limited: return add_issue_limited(path, verdict, evidence);
            case deduce::UnitUse::unexplained: return add_unexplained(path, operation, verdict, evidence);
            case deduce::UnitUse::none:
                evidence.note = "none of the known units delays it; " + evidence.note;
                return add(undecided(path, {}, evidence));
        }
    }

    /// An operation of several machine instructions can need several units. A single machine instruction has one unit:
    /// what delays it elsewhere may be the way in which it is dispatched.
    void add_several(const std::string& path, std::size_t operation, const deduce::UnitVerdict& verdict,
                     Evidence evidence) {
        if (operations_[operation].size > 1) {
            evidence.note = "each operation needs all of them; " + evidence.note;
            return add(decided(path, names(verdict.units), evidence));
        }
        evidence.note = "it delays all of them, but one machine instruction executes on one unit; " + evidence.note;
        std::vector<results::Value> candidates{names({verdict.units.front()}), names(verdict.units)};
        if (may_have_own(operation, verdict.units.front())) candidates.emplace_back(own_unit(operation));
        add(undecided(path, std::move(candidates), evidence));
    }

    /// Part of the rate comes from no known unit. Warps that issue two instructions at once do so less often in a mix
    /// of operations, which looks like a partly shared unit too.
    void add_unexplained(const std::string& path, std::size_t operation, const deduce::UnitVerdict& verdict,
                         Evidence evidence) {
        auto with_unknown = names(verdict.units);
        with_unknown.emplace_back("unknown");
        evidence.note =
            "the known units explain only a part of its rate: an unknown unit helps them, the operation has a unit of "
            "its own, or fewer instructions are issued in pairs; " +
            evidence.note;
        add(undecided(path, {names(verdict.units), with_unknown, own_unit(operation)}, evidence));
    }

    /// Whether a machine instruction that takes turns with a unit's simplest one, at a lower rate, may have a unit of
    /// its own. Either the unit executes it more slowly, or dispatching to another unit keeps this one waiting. No
    /// timing distinguishes the two.
    [[nodiscard]] bool may_have_own(std::size_t operation, std::size_t unit) const {
        const auto& rated = operations_[operation];
        const bool one_instruction =
            rated.size == 1 && context_.findings.find(leaf(operation, "instructions")) != nullptr;
        return one_instruction && rated.cycles > kSlower * simplest_of(unit).cycles &&
               rated.operation.family != map_.units()[unit].name;
    }

    void add_single(const std::string& path, std::size_t operation, std::size_t unit, Evidence evidence) {
        if (!may_have_own(operation, unit)) return add(decided(path, names({unit}), evidence));
        evidence.note =
            "it takes turns with that unit at a lower rate: the unit executes it more slowly, or a unit of its own "
            "does; " +
            evidence.note;
        add(undecided(path, {names({unit}), own_unit(operation)}, evidence));
    }

    /// Below the issue limit a shared unit does not show. If there is one candidate, no further unit is needed
    /// to explain the timings.
    void add_issue_limited(const std::string& path, const deduce::UnitVerdict& verdict, Evidence evidence) {
        std::vector<results::Value> candidates;
        for (const auto unit : verdict.units) candidates.emplace_back(names({unit}));
        evidence.note =
            "both operations fill the issue slots, so that a unit of its own would not show; " + evidence.note;
        if (candidates.size() > 1) return add(undecided(path, candidates, evidence));
        evidence.confidence = kIssueLimitedConfidence;
        add(decided(path, candidates.front(), evidence));
    }

    /// Without machine code, two ratios to the unit's simplest operation show the number of instructions. They compare
    /// the latencies of both operations, and the times for which they keep the unit busy.
    void add_instructions(std::size_t operation) {
        const std::string path = leaf(operation, "instructions");
        const auto verdict = map_.verdict(operation);
        if (context_.findings.find(path) != nullptr || verdict.units.empty() ||
            verdict.use == deduce::UnitUse::unexplained)
            return;
        const auto unit = verdict.units.front();
        const auto latency = context_.findings.number(leaf(operation, "latency"));
        const auto unit_latency = latency_of(unit);
        if (!latency || !unit_latency) return;
        const double by_latency = *latency / *unit_latency;
        const double by_rate = operations_[operation].cycles / simplest_of(unit).cycles;
        const auto lowest =
            std::max<std::int64_t>(1, std::lround(std::floor(std::min(by_latency, by_rate) + kNearlyWhole)));
        const auto highest =
            std::max<std::int64_t>(1, std::lround(std::ceil(std::max(by_latency, by_rate) - kNearlyWhole)));
        const Evidence evidence{
            "arithmetic_units: latency and time per operation, in those of its unit's simplest operation",
            kUnitConfidence,
            fmt::format("{:.3g} times the latency and {:.3g} times the time of {}", by_latency, by_rate,
                        map_.units()[unit].name)};
        if (lowest == highest) return add(decided(path, lowest, evidence));
        std::vector<results::Value> candidates;
        for (auto count = lowest; count <= highest; ++count) candidates.emplace_back(count);
        add(undecided(path, candidates, evidence));
    }

    [[nodiscard]] std::optional<double> latency_of(std::size_t unit) const {
        const auto& [name, representative] = map_.units()[unit];
        if (const auto known = context_.findings.number(fmt::format("pipelines.{}.latency", name))) return known;
        return context_.findings.number(leaf(representative, "latency"));
    }

    /// Adds the pipelines of units that no earlier experiment reported.
    void add_pipelines() {
        const int warp_size = warp_size_of(context_.device);
        for (const auto& [name, representative] : map_.units()) {
            const RatedOperation& simplest = operations_[representative];
            const auto lanes = fmt::format("pipelines.{}.lanes", name);
            if (context_.findings.find(lanes) != nullptr) continue;
            const Evidence evidence{fmt::format("arithmetic_units: the throughput of {}, which no other unit delays",
                                                simplest.operation.name),
                                    kUnitConfidence};
            add(rate_estimate(lanes, whole_lanes(warp_size / simplest.cycles), evidence));
            const auto* latency = context_.findings.find(leaf(representative, "latency"));
            if (latency == nullptr) continue;
            add(*latency);
            outcome_.estimates.back().path = fmt::format("pipelines.{}.latency", name);
        }
    }

    const Context& context_;
    std::span<const RatedOperation> operations_;
    const deduce::UnitMap& map_;
    Outcome& outcome_;
};

}  // namespace

void report_units(const Context& context, std::span<const RatedOperation> operations, const deduce::UnitMap& map,
                  Outcome& outcome) {
    Report(context, operations, map, outcome).add_all();
}

}  // namespace gputomo::experiments
