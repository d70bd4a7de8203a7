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
/// What a block on the same SM takes at least; of that, who shares takes more than kShared and who does not less than kApart.
constexpr double kLeast = 0.25, kShared = 0.5, kApart = 0.25;
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
    constexpr std::size_t kLargestTpc = 3;  // of any GPU so far
    const auto per_tpc = context.findings.number("topology.sms_per_tpc");
    if (static_cast<double>(shared_by) <= per_tpc.value_or(kLargestTpc)) return "tpc";
    // Several TPCs, but far fewer than those that are known to be a cluster.
    const auto per_gpc = clusters_known ? context.findings.number("topology.sms_per_gpc") : std::nullopt;
    return per_gpc && 2 * static_cast<double>(shared_by) <= *per_gpc ? "cpc" : "gpc";
}

}  // namespace

Sharing compete_with_all(const Context& context, Competition& competition, double cost) {
    const auto sms = sms_of(context.device);
    Sharing result;
    const bool noisy = disturbed(competition, cost);
    const int runs = noisy ? kDisturbedRuns : kRuns;
    for (std::uint32_t rival = 0; rival < sms; ++rival) {
        // What disturbs a walk only delays it: the fastest of several count.
        std::optional<double> alone, beside;
        double lost = 0, before = 0;
        // Elsewhere the second of two walks that lose alike confirms the first.
        for (int i = 0; i < runs && (i == 0 || noisy || std::abs(lost - before) > kUndisturbed); ++i) {
            const auto a = competition.cycles(0, rival, 0), b = competition.cycles(0, rival, kLaps);
            if (!a || !b) break;
            before = lost;
            alone = std::min(alone.value_or(*a), *a);
            beside = std::min(beside.value_or(*b), *b);
            lost = (*beside - *alone) / cost;
        }
        if (alone && beside) result.losses.push_back({rival, lost});
    }
    return result;
}

Sharers Sharing::sharers() const {
    Sharers found;
    const auto own = std::ranges::find(losses, 0U, &Loss::rival);
    if (own == losses.end()) return found;
    found.own_loss = own->lost;
    if (own->lost < kLeast) return found;
    for (const auto& [rival, lost] : losses) {
        if (lost < kApart * own->lost)
            found.loss_apart = std::max(found.loss_apart, lost);
        else
            (lost > kShared * own->lost ? found.sms : found.unclear).push_back(rival);
    }
    return found;
}

void report_scope(const Context& context, const std::string& path, const Sharing& sharing, const std::string& method, Outcome& outcome) {
    Evidence evidence{method, kConfidence};
    const auto found = sharing.sharers();
    const auto sms = found.sms.size(), rivals = sharing.losses.size();
    const std::string which = sms > 0 && sms < rivals ? fmt::format(": {}", fmt::join(found.sms, ", ")) : "";
    evidence.note =
        fmt::format("{} SMs of {} share it{}; a second block on SM 0 takes {:.0f}% of what the first one had, one that does not share at most {:.0f}%", sms,
                    rivals, which, 100 * found.own_loss, 100 * found.loss_apart);
    if (found.decided())
        outcome.estimates.push_back(decided(path, scope_name(context, sms), evidence));
    else
        outcome.estimates.push_back(undecided(path, {}, evidence));
}

}  // namespace gputomo::experiments
