#include "experiments/sharing/scope_report.hpp"

#include "experiments/device_facts.hpp"
#include "experiments/estimates.hpp"
#include "experiments/sharing/competition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.95;
/// More than this is a loss, and less than kNothing is none.
constexpr double kLost = 0.5, kNothing = 0.2;
constexpr std::uint32_t kLaps = 3;
/// Walks of each kind where single loads are slow by accident, of which some walk has none; elsewhere fewer do.
constexpr int kRuns = 3, kDisturbedRuns = 12;
/// Part of what it had that a quiet walk may seem to lose.
constexpr double kUndisturbed = 0.1;

/// Whether walks that nobody competes with differ from each other by more than they may.
bool disturbed(Competition& competition, double cost) {
    double fastest = std::numeric_limits<double>::infinity(), slowest = 0;
    for (int i = 0; i < kDisturbedRuns; ++i) {
        const auto cycles = competition.cycles(0, 0, 0);
        if (!cycles) return false;
        fastest = std::min(fastest, *cycles);
        slowest = std::max(slowest, *cycles);
    }
    return slowest - fastest > kUndisturbed * cost;
}

std::string scope_name(const Context& context, std::size_t shared_by) {
    const auto sms = static_cast<std::size_t>(sms_of(context.device));
    if (shared_by == sms) return "gpu";
    if (shared_by <= 1) return "sm";
    const auto* clock = context.findings.find("clock.scope");
    const bool clusters_known = clock != nullptr && clock->value == deduce::Value(std::string("gpc"));
    const auto per_tpc = context.findings.number("topology.sms_per_tpc");
    if (per_tpc) return static_cast<double>(shared_by) <= *per_tpc ? "tpc" : "gpc";
    constexpr std::size_t kLargestTpc = 3;  // of any GPU so far
    return clusters_known && shared_by > kLargestTpc ? "gpc" : shared_by <= kLargestTpc ? "tpc" : "gpc";
}

}  // namespace

void Sharing::add(std::uint32_t rival, double lost) { (lost > kLost ? sharing : lost < kNothing ? apart : unclear).push_back(rival); }

Sharing compete_with_all(const Context& context, Competition& competition, double cost) {
    const auto sms = sms_of(context.device);
    Sharing result;
    const bool noisy = disturbed(competition, cost);
    const int runs = noisy ? kDisturbedRuns : kRuns;
    for (std::uint32_t rival = 0; rival < sms; ++rival) {
        // What disturbs a walk only delays it: the fastest of several count.
        std::optional<double> alone, beside;
        double lost = 0;
        for (int i = 0; i < runs && (i == 0 || noisy || std::abs(lost) > kUndisturbed); ++i) {
            const auto a = competition.cycles(0, rival, 0), b = competition.cycles(0, rival, kLaps);
            if (!a || !b) break;
            alone = std::min(alone.value_or(*a), *a);
            beside = std::min(beside.value_or(*b), *b);
            lost = (*beside - *alone) / cost;
        }
        if (alone && beside) result.add(rival, lost);
    }
    return result;
}

void report_scope(const Context& context, const std::string& path, const Sharing& sharing, const std::string& method, Outcome& outcome) {
    Evidence evidence{method, kConfidence};
    if (!sharing.unclear.empty() || sharing.sharing.empty()) {
        outcome.estimates.push_back(undecided(path, {}, evidence));
        return;
    }
    evidence.note =
        fmt::format("{} SMs of {} share it: {}", sharing.sharing.size(), sharing.sharing.size() + sharing.apart.size(), fmt::join(sharing.sharing, ", "));
    outcome.estimates.push_back(decided(path, scope_name(context, sharing.sharing.size()), evidence));
}

}  // namespace gputomo::experiments
