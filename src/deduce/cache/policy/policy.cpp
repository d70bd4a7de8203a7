#include "deduce/cache/policy/policy.hpp"

#include "deduce/cache/policy/counterexample.hpp"
#include "deduce/cache/policy/eviction_trace.hpp"
#include "deduce/cache/policy/policy_selection.hpp"
#include "deduce/cache/policy/trace_statistics.hpp"
#include "deduce/cache/policy/way_odds.hpp"
#include "deduce/cache/traces/set_recorder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Loads that the search for evidence against one policy follows. Each takes longer the more ways a set has, about with
/// their square, and caches of many ways must not make a scan longer.
std::size_t followed_loads(std::uint32_t ways) {
    constexpr std::size_t kMost = 100'000, kWaysOfMost = 4;
    if (ways <= kWaysOfMost) return kMost;
    return kMost * kWaysOfMost * kWaysOfMost / (std::size_t{ways} * ways);
}

/// Runs of one batch, each with a new random order. More orders distinguish more policies and leave fewer loads for
/// each.
constexpr std::uint64_t kRunsPerBatch = 6;
/// Most batches of one run length. More of them follow where a sequence contains few visits of each line.
constexpr std::uint64_t kMaxBatchesOfLength = 4;
/// Run lengths, each twice the one before, while two candidates explain the runs about equally well.
constexpr std::uint64_t kRunLengths = 3;
/// A run passes over the set's lines `kMinRounds` times or, where that is more, `kRoundsPerWay` times for each way. A
/// set of many ways takes longer to show all its states.
constexpr std::uint64_t kMinRounds = 160, kRoundsPerWay = 3;
/// Most loads of all batches of one length; a GPU takes some 60 ms for them.
constexpr std::uint64_t kMaxLoads = 1 << 17;
/// Batches of one run length times the visits of a line in one sequence are at most this many.
constexpr std::uint64_t kMostBatchVisits = 16;
/// Fewest victims for any judgement, and victims after which the recording ends: chosen so that no single victim
/// decides.
constexpr int kMinVictims = 12, kManyVictims = 40;
/// A candidate that explains a smaller share of the victims is not the policy. Outliers and a start state that is not
/// known leave a right one below 1.
constexpr double kExplained = 0.9;
/// Predicting 70% of the victims is enough for a tree: large trees are learnt only in part, and a wrong tree predicts
/// one victim in `ways`.
constexpr double kExplainedByTree = 0.7;
/// Below a filtering level, filler loads take part in the replacement: a policy that does not explain nearly all is
/// wrong.
constexpr double kExplainedFiltered = 0.99;
/// With less confidence than this, the runner-up stays a candidate beside the best one.
constexpr double kDecided = 0.6;
/// A candidate that explains this much more of the victims than the likeliest one stays beside it.
constexpr double kClearlyMore = 0.05;
/// Candidates whose likelihoods differ by less than a factor of 50 explain equally well.
const double kEqually = std::log(50.0);
/// A candidate that is right as often as the leader stays possible within this deficit: it lost only because it leaves
/// more victims open.
const double kOpenLead = 10 * kEqually;
/// A random set repeats at most this share of its misses after some passes; one that repeats more is deterministic.
constexpr double kRandomPeriodicShare = 0.7;
/// Victims of an unknown policy whose age bias is larger than this are not random.
constexpr double kRandomAgeBias = 0.15;
/// An age bias below this looks random. A pseudo-LRU tree is then not looked for in more runs.
constexpr double kLittleAgeBias = 0.05;
/// Runs after which a pseudo-LRU tree is no longer looked for.
constexpr std::size_t kMaxRunsForTree = 12;
/// Loads of the run that the odds of single ways are counted in: enough for a dozen victims of each of many ways.
constexpr std::uint64_t kOddsLoads = 1 << 16;
/// Confidence, by Laplace's rule, of what one run shows after the earlier runs ruled out all other explanations.
constexpr double kOneRun = 0.9;
/// Confidence that a policy is random or unknown where no candidate explains the victims.
constexpr double kNoneExplains = 0.8;

/// Name of a policy that is none of the candidates.
constexpr std::string_view kUnknownPolicy = "not-lru";

std::vector<std::string_view> all_policies() {
    std::vector<std::string_view> all(candidate_policies().begin(), candidate_policies().end());
    all.push_back(kTree);
    return all;
}

class PolicyDeduction {
public:
    PolicyDeduction(const Probe& probe, const Offsets& lines, const Offsets& filler, std::uint64_t sector)
        : probe_(probe),
          ways_(static_cast<std::uint32_t>(lines.size() - 1)),
          recorder_(probe, lines, filler, sector),
          selection_(ways_) {}

    PolicyFinding run() {
        if (recorder_.visits() == 0)
            return {.evidence =
                        "the policy is not determined: a line has fewer words than the filler loads between two "
                        "loads of a set's lines need"};
        const auto plan = plan_batches();
        for (std::size_t i = 0; i < plan.size() && !(i > 0 && decided()); ++i) {
            for (std::uint64_t r = 0; r < kRunsPerBatch; ++r) runs_.push_back(recorder_.record(plan[i], runs_.size()));
            outlier_rate_ = recorder_.miss_like_outlier_rate();
            selection_.update(runs_, (plan.size() - 1 - i) * kRunsPerBatch, outlier_rate_);
        }
        judge();
        if (!found_.name.empty() || !found_.candidates.empty()) reject_the_others();
        return std::move(found_);
    }

private:
    /// Loads of each run, by batch.
    [[nodiscard]] std::vector<std::uint64_t> plan_batches() const {
        const std::uint64_t rounds = std::max<std::uint64_t>(kMinRounds, kRoundsPerWay * ways_);
        const std::uint64_t loads = std::min(kMaxLoads / kRunsPerBatch, rounds * (ways_ + 1));
        std::vector<std::uint64_t> plan;
        for (std::uint64_t length = 0; length < kRunLengths; ++length) {
            const std::uint64_t longer = loads << length;
            const std::uint64_t batches =
                std::clamp(kMaxLoads / kRunsPerBatch / longer, std::uint64_t{1},
                           std::min(kMaxBatchesOfLength, kMostBatchVisits / recorder_.visits()));
            plan.insert(plan.end(), batches, longer);
        }
        return plan;
    }

    [[nodiscard]] bool explains(const PolicyScore& score) const {
        const double least = probe_.filtered()     ? kExplainedFiltered
                             : score.name == kTree ? kExplainedByTree
                                                   : kExplained;
        return score.name != kChance && score.share() >= least;
    }

    /// Whether further runs would not change the judgement.
    [[nodiscard]] bool decided() const {
        const auto& ranking = selection_.ranking();
        // Victims that neither a candidate nor chance explains may come from a large tree, which only longer runs
        // show.
        if (!probe_.filtered() && !explains(ranking[0]) && runs_.size() < kMaxRunsForTree && selection_.may_be_tree() &&
            !looks_random())
            return false;
        if (explains(ranking[0]) && selection_.confidence() < kDecided) return false;
        const auto right_as_often = [&](const PolicyScore& s) {
            return s.name != kChance && s.deficit < kOpenLead && s.share() >= ranking[0].share();
        };
        return ranking[0].victims >= kManyVictims && ranking[1].deficit > 2 * kEqually &&
               std::none_of(ranking.begin() + 1, ranking.end(), right_as_often);
    }

    void judge() {
        const auto& ranking = selection_.ranking();
        for (const auto& score : ranking) found_.agreement.emplace_back(score.name, score.share());
        const PolicyScore& best = ranking.front();
        if (best.victims < kMinVictims) return;
        if (!explains(best)) return judge_unexplained(best);
        found_.candidates = rivals_with(best);
        if (!found_.candidates.empty()) return;
        found_.name = best.name;
        found_.confidence = selection_.confidence();
        add_equivalent_names(best);
    }

    /// The best policy and those that remain possible beside it; empty where it is the only one.
    [[nodiscard]] std::vector<std::string> rivals_with(const PolicyScore& best) const {
        const auto& ranking = selection_.ranking();
        std::vector<std::string> equal;
        for (const auto& score : ranking)
            if (score.deficit < kEqually && score.name != kChance) equal.push_back(score.name);
        if (equal.size() > 1) return equal;
        // Policies that leave the victim open gain likelihood by being wrong less. One that says more and is right more
        // often remains possible.
        const auto rival = std::ranges::max_element(
            ranking, {}, [](const PolicyScore& s) { return s.name == kChance ? 0 : s.share(); });
        if (rival->share() > best.share() + kClearlyMore) return {best.name, rival->name};
        if (selection_.confidence() < kDecided) return {best.name, ranking[1].name};
        return {};
    }

    /// Whether the policy is the one that was found, one of the candidates left, or behaves like one of them.
    [[nodiscard]] bool remains(std::string_view policy) const {
        auto left = found_.candidates;
        if (!found_.name.empty()) left.push_back(found_.name == "way-odds" ? std::string(kChance) : found_.name);
        return std::ranges::any_of(left, [&](const std::string& name) {
            return name != kUnknownPolicy && equivalent_policies(name, policy, ways_);
        });
    }

    void reject_the_others() {
        const bool known = found_.name != kUnknownPolicy && found_.name != "way-odds";
        const std::string accepted = !found_.candidates.empty() ? found_.candidates.front()
                                     : known                    ? found_.name
                                                                : std::string();
        const CounterexampleSearch search(runs_, ways_, accepted, outlier_rate_, followed_loads(ways_));
        for (const auto policy : all_policies()) {
            if (remains(policy)) continue;
            const auto against = search.against(policy);
            if (!against.sequence.empty())
                found_.rejections.push_back({std::string(policy), against.sequence, reason_of(against)});
            else if (const auto reason = unlikely(policy, search.most_loads()); !reason.empty())
                found_.rejections.push_back({std::string(policy), {}, reason});
        }
    }

    [[nodiscard]] static std::string reason_of(const Counterexample& against) {
        return fmt::format(
            "its last load, {}, {} where the policy {}lets it {} (recorded {})", against.last_line,
            against.last_missed ? "missed" : "hit", against.ways_in_order ? "with any fixed order of equal ways " : "",
            against.last_missed ? "hit" : "miss", against.times == 1 ? "once" : fmt::format("{} times", against.times));
    }

    /// Why a policy is rejected that may produce every short sequence: by the odds of all victims together.
    [[nodiscard]] std::string unlikely(std::string_view policy, std::size_t most_loads) const {
        const auto& ranking = selection_.ranking();
        const auto score = std::ranges::find(ranking, policy, &PolicyScore::name);
        if (score == ranking.end() || score->deficit <= 0) return {};
        return fmt::format(
            "no sequence of up to {} loads rules it out, but all victims together are 10^{:.0f} times "
            "likelier under {}",
            most_loads, score->deficit / std::log(10.0), ranking.front().name);
    }

    void add_equivalent_names(const PolicyScore& best) {
        auto others = all_policies();
        std::erase_if(others, [&](std::string_view other) {
            return other == best.name || !equivalent_policies(best.name, other, ways_);
        });
        if (!others.empty())
            found_.evidence = fmt::format("with {} ways, {} does the same", ways_, fmt::join(others, " or "));
    }

    [[nodiscard]] bool looks_random() const {
        return periodic_share(runs_) <= kRandomPeriodicShare &&
               std::abs(age_bias(runs_, ways_, outlier_rate_)) <= kLittleAgeBias;
    }

    /// No known policy explains more than chance. It is chance only if the set neither repeats itself nor prefers lines
    /// of some age.
    void judge_unexplained(const PolicyScore& best) {
        const double periodic = periodic_share(runs_), bias = age_bias(runs_, ways_, outlier_rate_);
        found_.evidence = fmt::format(
            "of {} evictions, {:.0f}% repeat from pass to pass, and the mean victim's age rank is {:.2f} (0: oldest, "
            "0.5: "
            "random)",
            best.victims, periodic * 100, 0.5 - bias);
        if (probe_.filtered()) return;  // the filler loads may be what no policy explains
        if (periodic > kRandomPeriodicShare || std::abs(bias) > kRandomAgeBias) {
            found_.name = kUnknownPolicy;
            found_.confidence = kNoneExplains;
            found_.evidence = "no known policy explains the victims: " + found_.evidence;
            return;
        }
        found_.name = kChance;
        found_.confidence = best.name == kChance ? selection_.confidence() : kNoneExplains;
        find_odds();
    }

    void find_odds() {
        const auto odds = odds_of_ways(recorder_.record(kOddsLoads, runs_.size()).segments, ways_, outlier_rate_);
        found_.confidence *= kOneRun;
        if (odds.by_rank.empty()) return;
        found_.odds = odds.by_rank;
        found_.name = "way-odds";
        found_.confidence = kOneRun * odds.confidence;
    }

    Probe probe_;
    std::uint32_t ways_;
    SetRecorder recorder_;
    std::vector<PolicyRun> runs_;
    double outlier_rate_ = 0;  ///< share of hits that read like misses
    PolicySelection selection_;
    PolicyFinding found_;
};

}  // namespace

PolicyFinding find_policy(const Probe& probe, const Offsets& lines, const Offsets& filler, std::uint64_t sector) {
    return PolicyDeduction(probe, lines, filler, sector).run();
}

}  // namespace gputomo::deduce::cache
