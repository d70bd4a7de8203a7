#include "experiments/outstanding/table.hpp"

#include "deduce/series/change_point.hpp"
#include "experiments/outstanding/lower_bound.hpp"
#include "experiments/outstanding/predictions.hpp"
#include "experiments/outstanding/sweep.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace gputomo::experiments::outstanding {
namespace {

using deduce::OutstandingFit;
using deduce::OutstandingUnit;

/// A table is reported if at least `kFewestRight` of its predicted steps were found, and if these are a large
/// enough share of the predictions. The other design's share must also be small enough beside it. The first value
/// of each pair applies if only the steps speak for the table, the second if the fitted model does too. Lower
/// demands accept tables that chance suggests, higher ones leave the design open where issue hides some of the
/// steps.
constexpr int kFewestRight = 3;
constexpr double kRightBySteps = 0.6, kRightWithModel = 0.35;
constexpr double kOtherBySteps = 0.6, kOtherWithModel = 0.75;
/// Models whose errors differ by less than this factor explain the data equally well.
constexpr double kEqualError = 1.05;
/// Threads on either side of the model's number of entries that are then measured one by one, or two by two.
constexpr int kThreadsAround = 8;

OutstandingUnit unit_of(const OutstandingFit& fit) { return fit.model.unit; }

std::string in_words(const std::vector<OutstandingFit>& fits) {
    std::vector<std::string> parts;
    for (const auto& fit : fits)
        parts.push_back(
            fit.model.unit == OutstandingUnit::none
                ? fmt::format("no table {:.2g}%", 100 * fit.error)
                : fmt::format("{} {} {:.2g}%", fit.model.entries, deduce::name_of(fit.model.unit), 100 * fit.error));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string in_words(const Prediction& p) {
    return fmt::format("{} of {} steps that a table of {} {} predicts", p.right, p.tried, p.entries,
                       deduce::name_of(p.unit));
}

void leave_open(Setup& setup, std::vector<results::Value> candidates, Evidence evidence, const char* reason) {
    const std::vector launches{launches_of(setup.points, setup.far_hit, setup.overhead), launches_from_memory(setup)};
    auto lines = most_in_flight(setup.path("outstanding_at_least"), launches, OutstandingUnit::lines, "lines");
    const auto instructions = most_in_flight({}, launches, OutstandingUnit::instructions, "instructions");
    evidence.note = fmt::format("{}; at least {} lines, or {} instructions, were in flight at once", reason,
                                count_of(lines), count_of(instructions));
    setup.outcome.estimates.push_back(undecided(setup.path("outstanding_design"), std::move(candidates), evidence));
    setup.outcome.estimates.push_back(std::move(lines));
}

/// The number of lines after which the latency of a lone load of each thread steps up, thread by thread around the
/// number that the models give. Returns nullopt if no step is clear.
std::optional<deduce::Step> exact_lines(Setup& setup, int about) {
    const int loads = about <= kLargestBlock ? 1 : 2;
    const int span = std::max(kThreadsAround, static_cast<int>(kNearEntries * about));
    std::vector<double> lines;
    std::vector<double> cycles;
    for (int threads = std::max(1, (about - span) / loads); threads * loads <= about + span; ++threads) {
        const auto point = setup.cached.measure({.count = loads}, {}, threads);
        if (!point) break;
        lines.push_back(threads * loads);
        cycles.push_back(point->complete);
    }
    auto step = deduce::best_step(lines, cycles);
    if (step && (!step->significant || std::abs(step->last_before - about) > span / 2.0)) step.reset();
    return step;
}

void report_entries(Setup& setup, const Prediction& table, const Evidence& evidence) {
    auto entries = decided(setup.path("outstanding_entries"),
                           std::int64_t{std::clamp(table.entries, table.least, table.most)}, evidence);
    entries.interval = {static_cast<double>(table.least), static_cast<double>(table.most)};
    const bool lines = table.unit == OutstandingUnit::lines;
    if (const auto step = lines ? exact_lines(setup, table.entries) : std::nullopt) {
        entries.value = static_cast<std::int64_t>(step->last_before);
        entries.interval = {step->last_before, step->first_after - 1};
        entries.method +=
            fmt::format("; latency steps up by {:.0f} cycles after {} lines", step->height, step->last_before);
    }
    setup.outcome.estimates.push_back(std::move(entries));
}

}  // namespace

void report_table(Setup& setup, const std::vector<OutstandingFit>& fits) {
    const auto tried = test_tables(setup, fits);
    const auto& best = tried.front();
    const Evidence evidence{
        fmt::format("outstanding: {} and {} were found; mean error of the models of {} launches: {}", in_words(best),
                    in_words(tried.back()), setup.points.size(), in_words(fits)),
        kConfidence};
    const auto none = std::ranges::find(fits, OutstandingUnit::none, unit_of);
    // The issue of many warps can hide some of the steps. Then the model of the whole surface must agree.
    const auto fit = std::ranges::find(fits, best.unit, unit_of);
    const bool modelled = fit->error < kTableGain * none->error && fit->error < kEqualError * fits.front().error;
    const double share = modelled ? kRightWithModel : kRightBySteps, other = modelled ? kOtherWithModel : kOtherBySteps;
    if (best.right < kFewestRight || best.share() < share || tried.back().share() > other * best.share()) {
        if (fits.front().error > kTableGain * none->error)
            return leave_open(setup, {}, evidence, "no table fills up with the loads of one block");
        return leave_open(setup, {std::string("mshr"), std::string("prt")}, evidence,
                          "no single table explains all launches");
    }
    const bool lines = best.unit == OutstandingUnit::lines;
    setup.outcome.estimates.push_back(
        decided(setup.path("outstanding_design"), std::string(lines ? "mshr" : "prt"), evidence));
    report_entries(setup, best, evidence);
    if (lines) find_merging(setup);
}

}  // namespace gputomo::experiments::outstanding
