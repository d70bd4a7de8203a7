#include "experiments/caches/scope_report.hpp"

#include "measure/chase/interference_chase.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace gputomo::experiments {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kScopeConfidence = 0.95;
/// Evictions by a block on the same SM are the reference, and must take at least the share `kLeast` of the first
/// block's data. Sharers evict more than `kShared` of the reference, others less than `kApart`.
constexpr double kLeast = 0.2, kShared = 0.5, kApart = 0.25;
/// Passes of a rival. A single one is enough if a block on the same SM then evicts at least the share `kEnough`.
constexpr std::uint32_t kRivalPasses = 3;
constexpr double kEnough = 0.5;
/// If it evicts less than this share, the second block's own misses may show more: a cache that keeps used lines leaves
/// it nothing.
constexpr double kClear = 0.4;
/// Runs of each kind, and runs if single loads are outliers, of which some run has none.
constexpr int kRuns = 3, kDisturbedRuns = 12;
/// The first block's array takes this share of the least capacity. Both arrays take these multiples of the least and of
/// the most capacity.
constexpr double kOwnPart = 0.75, kTogether = 1.5, kTogetherAtMost = 1.125;
/// Share of its data that an undisturbed run may seem to lose.
constexpr double kUndisturbed = 0.1;

/// The share of its data that a block on SM 0 loses to a rival, or the rival to it. The fastest of several runs counts,
/// because disturbances only delay a run.
class Losses {
public:
    Losses(InterferenceChase& competition, double cost) : competition_(competition), cost_(cost) {
        double slowest = 0;
        for (int i = 0; i < kDisturbedRuns; ++i) {
            const auto cycles = competition.cycles({});
            if (!cycles) return;
            alone_ = std::min(alone_.value_or(cycles->own), cycles->own);
            slowest = std::max(slowest, cycles->own);
        }
        noisy_ = slowest - *alone_ > kUndisturbed * cost;
    }
    /// Loss of the block on SM 0 to a rival that passes `passes` times over its array. The rival should evict nothing
    /// or the share `expected`. Returns nullopt if no two blocks came to these SMs.
    [[nodiscard]] std::optional<double> of_own(std::uint32_t rival, std::uint32_t passes, double expected) const {
        if (!alone_) return std::nullopt;
        return settled(expected, [&] {
            return lost(competition_.cycles({.rival = rival, .passes = passes}), &InterferenceChase::Cycles::own,
                        *alone_);
        });
    }
    /// Loss of a rival to the block on SM 0, compared with a run in which that block does not load.
    [[nodiscard]] std::optional<double> of_rival(std::uint32_t rival, double expected) const {
        std::optional<double> alone;
        return settled(expected, [&]() -> std::optional<double> {
            const auto quiet = competition_.cycles({.rival = rival, .passes = kRivalPasses, .own = false});
            if (!quiet) return std::nullopt;
            alone = std::min(alone.value_or(quiet->rival), quiet->rival);
            return lost(competition_.cycles({.rival = rival, .passes = kRivalPasses}),
                        &InterferenceChase::Cycles::rival, *alone);
        });
    }

private:
    [[nodiscard]] std::optional<double> lost(const std::optional<InterferenceChase::Cycles>& cycles,
                                             double InterferenceChase::Cycles::*whose, double alone) const {
        return cycles ? std::optional(((*cycles).*whose - alone) / cost_) : std::nullopt;
    }
    template <class Measure>
    [[nodiscard]] std::optional<double> settled(double expected, const Measure& measure) const {
        std::optional<double> least;
        for (int i = 0; i < (noisy_ ? kDisturbedRuns : kRuns); ++i) {
            const std::optional<double> now = measure();
            if (!now) break;
            const bool confirmed = *now < kUndisturbed || std::abs(*now - expected) < kUndisturbed ||
                                   (least && std::abs(*now - *least) < kUndisturbed);
            least = std::min(least.value_or(*now), *now);
            if (confirmed && !noisy_) break;
        }
        return least;
    }

    InterferenceChase& competition_;
    double cost_;
    std::optional<double> alone_;  ///< cycles of a load of the block on SM 0 without a rival
    bool noisy_ = false;           ///< whether runs without a rival differ by more than an undisturbed run may
};

std::string scope_name(const Context& context, std::size_t shared_by) {
    const auto sms = static_cast<std::size_t>(sms_of(context.device));
    if (shared_by == sms) return "gpu";
    if (shared_by <= 1) return "sm";
    const auto* clock = context.findings.find("clock.scope");
    const bool clusters_known = clock != nullptr && clock->value == results::Value(std::string("gpc"));
    constexpr std::size_t kLargestTpc = 3;  // of any GPU so far
    const auto per_tpc = context.findings.number("topology.sms_per_tpc");
    if (static_cast<double>(shared_by) <= per_tpc.value_or(kLargestTpc)) return "tpc";
    // Several TPCs, but far fewer than those that are known to be a cluster.
    const auto per_gpc = clusters_known ? context.findings.number("topology.sms_per_gpc") : std::nullopt;
    return per_gpc && 2 * static_cast<double>(shared_by) <= *per_gpc ? "cpc" : "gpc";
}

}  // namespace

Footprints::Footprints(std::uint64_t least, std::uint64_t most)
    : own(static_cast<std::uint64_t>(kOwnPart * static_cast<double>(least))),
      together(static_cast<std::uint64_t>(
          std::max(kTogether * static_cast<double>(least), kTogetherAtMost * static_cast<double>(most)))) {}

Sharing compete_with_all(const Context& context, InterferenceChase& competition, double cost) {
    const Losses losses(competition, cost);
    std::uint32_t passes = 1;
    auto own = losses.of_own(0, passes, 0);
    if (own && *own < kEnough) own = losses.of_own(0, passes = kRivalPasses, 0);
    if (!own) return {};
    Sharing result{{{0, *own}}};
    if (*own < kClear) {
        const auto rivals = losses.of_rival(0, 0);
        result.rivals_lose = rivals && *rivals > *own;
        if (result.rivals_lose) result.losses.front().lost = *rivals;
    }
    const double expected = result.losses.front().lost;
    for (std::uint32_t rival = 1; rival < sms_of(context.device); ++rival) {
        const auto lost =
            result.rivals_lose ? losses.of_rival(rival, expected) : losses.of_own(rival, passes, expected);
        if (lost) result.losses.push_back({rival, *lost});
    }
    return result;
}

Sharers Sharing::sharers() const { return sharers_like(0); }

Sharers Sharing::sharers_like(std::uint32_t one) const {
    Sharers found;
    const auto own = std::ranges::find(losses, one, &Loss::rival);
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

bool Sharing::any_takes() const {
    return std::ranges::any_of(losses, [](const Loss& loss) { return loss.lost >= kLeast; });
}

std::uint32_t Sharing::most_taking() const {
    return losses.empty() ? 0 : std::ranges::max_element(losses, {}, &Loss::lost)->rival;
}

void report_scope(const Context& context, const std::string& path, const Sharing& sharing, const std::string& method,
                  Outcome& outcome) {
    Evidence evidence{method, kScopeConfidence};
    const auto found = sharing.sharers();
    const auto sms = found.sms.size(), rivals = sharing.losses.size();
    const std::string which = sms > 0 && sms < rivals ? fmt::format(": {}", fmt::join(found.sms, ", ")) : "";
    evidence.note = fmt::format(
        "{} SMs of {} share it{}; a second block on SM 0 {} {:.0f}% of the lines that {} holds, a block on an SM that "
        "does not share it at most {:.0f}%",
        sms, rivals, which, sharing.rivals_lose ? "lacks" : "evicts", 100 * found.own_loss,
        sharing.rivals_lose ? "it alone" : "the first block", 100 * found.loss_apart);
    if (found.decided())
        outcome.estimates.push_back(decided(path, scope_name(context, sms), evidence));
    else
        outcome.estimates.push_back(undecided(path, {}, evidence));
}

bool report_scheduler(const std::string& path, const Sharing& warps, const std::string& method, Outcome& outcome) {
    const auto found = warps.sharers_like(warps.most_taking());
    if (warps.losses.size() < 2 || !found.decided() || found.sms.size() > 1) return false;
    Evidence evidence{method, kScopeConfidence};
    evidence.note = fmt::format(
        "of {} warps, one for each scheduler, one evicts {:.0f}% of the first one's lines, the others at most {:.0f}%",
        warps.losses.size(), 100 * found.own_loss, 100 * found.loss_apart);
    outcome.estimates.push_back(decided(path, std::string("scheduler"), evidence));
    return true;
}

}  // namespace gputomo::experiments
