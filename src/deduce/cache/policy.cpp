#include "deduce/cache/policy.hpp"

#include "deduce/cache/eviction_trace.hpp"
#include "deduce/cache/policy_selection.hpp"
#include "deduce/cache/remove_outliers.hpp"
#include "deduce/cache/way_odds.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace gputomo::deduce::cache {
namespace {

/// Walks with different orders, more of them where lines are visited less often in each; rounds over the set's lines in
/// each, at least; loads of all, at most.
constexpr std::uint64_t kRunsPerBatch = 6, kMaxRunFactor = 4;
constexpr std::uint64_t kMinRounds = 160, kRoundsPerWay = 3, kMaxLoads = 1 << 17, kMaxVisits = 16;
/// Evictions that the judgement rests on, at least.
constexpr int kMinVictims = 12, kManyVictims = 40;
/// Further walks, each batch as long as all before, while two candidates explain about equally well.
constexpr int kBatches = 3;
/// A candidate that explains less of the victims than this is not the policy.
constexpr double kExplained = 0.9;
/// A tree of many ways is learnt in part; one that is none foresees one in as many victims as it has ways.
constexpr double kExplainedByTree = 0.7;
/// Behind another level, loads that come between take part in what is replaced: what does not explain nearly all is
/// wrong.
constexpr double kExplainedFiltered = 0.99;
/// Less sure than this, the runner-up is left beside the best one.
constexpr double kDecided = 0.6;
/// Share of the victims by which another one explains clearly more.
constexpr double kClearlyMore = 0.05;
/// Candidates whose likelihoods differ by less than this factor explain equally well.
const double kEqually = std::log(50.0);
/// And by less than this, where the one behind is right as often.
const double kOpenLead = 10 * kEqually;
/// Share of its misses that a set repeats after some laps: more than this is no chance.
constexpr double kRepeating = 0.7;
/// For odds of single ways: loads of a long walk, share by which a random policy's victims may prefer old lines.
constexpr std::uint64_t kOddsLoads = 1 << 16;
constexpr double kPreference = 0.15;
/// And that they prefer in near rounds where a tree replaces them; walks, at most, to look for one.
constexpr double kLittlePreference = 0.05;
constexpr std::size_t kMaxRunsForTree = 12;
/// Of the accidents, at least one in so many looks like a miss.
constexpr double kMissLikeOutliers = 50;
/// Of one walk that agrees, by Laplace's rule, with those before that found no other explanation.
constexpr double kOneRun = 0.9;

/// Lines of the company among those of the set.
constexpr std::uint32_t kFiller = ~0U;

/// Other lines of a set between two visits of one, at least.
std::uint64_t rounds_apart(std::uint64_t lines) { return lines / 4; }

/// Random orders of the lines, one after the other round and round, in which no line comes back at once: a nearer level
/// would have it still.
Offsets draw_rounds(const Probe& probe, std::uint64_t lines, std::uint64_t count) {
    constexpr int kMaxShuffles = 1000;
    const std::uint64_t apart = rounds_apart(lines);
    const auto soon = [&](const Offsets& before, const Offsets& after) {
        for (std::uint64_t i = 0; i < apart; ++i)
            for (std::uint64_t j = 0; i + j + 1 < apart; ++j)
                if (after[i] == before[lines - 1 - j]) return true;
        return false;
    };
    std::vector<Offsets> rounds(count, Offsets(lines));
    for (std::uint64_t r = 0; r < count; ++r) {
        std::iota(rounds[r].begin(), rounds[r].end(), std::uint64_t{0});
        for (int i = 0; i < kMaxShuffles; ++i) {
            std::shuffle(rounds[r].begin(), rounds[r].end(), probe.random());
            if ((r == 0 || !soon(rounds[r - 1], rounds[r])) && (r + 1 < count || !soon(rounds[r], rounds[0]))) break;
        }
    }
    Offsets visits;
    for (const auto& round : rounds) visits.insert(visits.end(), round.begin(), round.end());
    return visits;
}

/// Rounds in nearly the same order: a line comes back when most others were used since, which is when trees and their
/// like have let it go. They evict several times as often as in rounds of any order, and other pairs of lines.
Offsets draw_similar_rounds(const Probe& probe, std::uint64_t lines, std::uint64_t count) {
    constexpr std::uint64_t kMinParts = 10, kMaxParts = 50;
    // By less than such a part of a round each line comes sooner or later than in the last one.
    const std::uint64_t moves = std::max<std::uint64_t>(2, 2 * lines / (kMinParts + probe.draw(kMaxParts - kMinParts)));
    Offsets round(lines), visits;
    std::iota(round.begin(), round.end(), std::uint64_t{0});
    std::shuffle(round.begin(), round.end(), probe.random());
    for (std::uint64_t r = 0; r < count; ++r) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> when;
        for (std::uint64_t i = 0; i < lines; ++i) when.emplace_back(i + probe.draw(moves + 1), round[i]);
        std::ranges::stable_sort(when, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
        for (std::uint64_t i = 0; i < lines; ++i) round[i] = when[i].second;
        visits.insert(visits.end(), round.begin(), round.end());
    }
    return visits;
}

/// From `least` to `most` visits of each line in any order: lines come back sooner and later than in rounds, and some
/// more often than others, which parts policies that agree on lines that come again and again alike.
Offsets draw_visits(const Probe& probe, std::uint64_t lines, std::uint64_t least, std::uint64_t most) {
    Offsets visits;
    for (std::uint64_t line = 0; line < lines; ++line)
        visits.insert(visits.end(), least + probe.draw(most - least + 1), line);
    std::shuffle(visits.begin(), visits.end(), probe.random());
    return visits;
}

class PolicyDeduction {
public:
    PolicyDeduction(const Probe& probe, const Offsets& lines, const Offsets& filler, std::uint64_t piece)
        : probe_(probe),
          ways_(static_cast<std::uint32_t>(lines.size() - 1)),
          piece_(piece),
          lines_(lines),
          filler_(filler),
          selection_(ways_) {
        // Each word of a tour is there once: a line of the company that comes several times between the set's lines
        // needs as many words.
        fillers_per_line_ = filler.size() / std::max<std::uint64_t>(1, rounds_apart(lines.size()));
        filler_visits_ =
            filler.empty()
                ? 1
                : std::max<std::uint64_t>(1, (lines.size() * fillers_per_line_ + filler.size() - 1) / filler.size());
        visits_ = std::min(kMaxVisits, piece / probe.question().word / filler_visits_);
    }

    PolicyFinding run() {
        if (visits_ == 0)
            return {.evidence =
                        "lines are too short for as many visits as lines of other sets need between those of one: the "
                        "policy is not determined"};
        const std::uint64_t rounds = std::max<std::uint64_t>(kMinRounds, kRoundsPerWay * ways_);
        const std::uint64_t loads = std::min(kMaxLoads / kRunsPerBatch, rounds * lines_.size());
        std::vector<std::uint64_t> plan;
        for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
            const std::uint64_t longer = loads << batch;
            plan.insert(plan.end(),
                        std::clamp(kMaxLoads / kRunsPerBatch / longer, std::uint64_t{1},
                                   std::min(kMaxRunFactor, kMaxVisits / visits_)),
                        longer);
        }
        for (std::size_t i = 0; i < plan.size() && !(i > 0 && decided()); ++i) {
            for (std::uint64_t w = 0; w < kRunsPerBatch; ++w) runs_.push_back(record_run(plan[i]));
            outlier_rate_ = miss_like_outlier_rate();
            selection_.update(runs_, (plan.size() - 1 - i) * kRunsPerBatch, outlier_rate_);
        }
        judge();
        return std::move(found_);
    }

private:
    /// Each kind of tour shows other policies best: deterministic sets repeat themselves with each lap, some with
    /// hardly an eviction.
    Offsets draw_tour(bool in_rounds) {
        const std::size_t kind = runs_.size() % 4;
        if (in_rounds || kind == 3) return draw_rounds(probe_, lines_.size(), visits_);
        if (kind == 0) return draw_similar_rounds(probe_, lines_.size(), visits_);
        return draw_visits(probe_, lines_.size(), kind == 1 ? visits_ : 1, visits_);
    }
    PolicyRun record_run(std::uint64_t loads) {
        Offsets sequence, visited(lines_.size(), 0);
        std::vector<std::uint32_t> numbers;
        const std::uint64_t word = probe_.question().word, apart = piece_ / visits_ / word * word;
        std::uint64_t others = 0, v = 0;
        const bool in_rounds = !filler_.empty() || probe_.filtered();
        for (const auto line : draw_tour(in_rounds)) {
            if (in_rounds && visited[line] > v) others = 0, ++v;
            sequence.push_back(lines_[line] + visited[line]++ * apart);
            numbers.push_back(static_cast<std::uint32_t>(line));
            for (std::uint64_t i = 0; i < fillers_per_line_; ++i, ++others, numbers.push_back(kFiller))
                sequence.push_back(filler_[others % filler_.size()] + v * apart + others / filler_.size() * word);
        }
        const auto passes =
            static_cast<std::uint32_t>(std::max<std::uint64_t>(2, loads * (fillers_per_line_ + 1) / sequence.size()));
        const auto recorded = probe_.record(sequence, 2, passes);
        PolicyRun run{{}, sequence.size() / (fillers_per_line_ + 1)};
        for (std::size_t at = 0; at < recorded.missed.size(); at += recorded.segment_loads) {
            const std::size_t end = std::min(recorded.missed.size(), at + recorded.segment_loads);
            TraceSegment segment;
            for (std::size_t i = at; i < end; ++i) {
                if (numbers[i % numbers.size()] == kFiller) continue;
                segment.lines.push_back(numbers[i % numbers.size()]);
                segment.missed.push_back(recorded.missed[i]);
                segment.outlier.push_back(recorded.outlier[i]);
            }
            outliers_ += static_cast<double>(std::count(segment.outlier.begin(), segment.outlier.end(), true));
            recorded_ += static_cast<double>(segment.outlier.size());
            remove_outliers(segment, run.sequence, probe_.outlier_rate());
            run.segments.push_back(std::move(segment));
        }
        return run;
    }

    /// Of the accidents, those are known that are odd.
    [[nodiscard]] double miss_like_outlier_rate() const {
        return std::max(probe_.outlier_rate() / kMissLikeOutliers,
                        probe_.outlier_rate() - outliers_ / std::max(1.0, recorded_));
    }
    [[nodiscard]] std::vector<Step> random_steps(const TraceSegment& segment) const {
        return explain(segment, ways_, *make_model(kChance, ways_), outlier_rate_).steps;
    }

    [[nodiscard]] bool explains(const PolicyScore& candidate) const {
        const double least = probe_.filtered()         ? kExplainedFiltered
                             : candidate.name == kTree ? kExplainedByTree
                                                       : kExplained;
        return candidate.name != kChance && candidate.share() >= least;
    }

    [[nodiscard]] bool decided() const {
        const auto& ranking = selection_.ranking();
        // A set that is neither explained nor left to chance may have a tree of more ways than walks so far are long
        // enough for.
        if (!probe_.filtered() && !explains(ranking[0]) && runs_.size() < kMaxRunsForTree && selection_.may_be_tree() &&
            !like_chance())
            return false;
        if (explains(ranking[0]) && selection_.confidence() < kDecided) return false;
        // One that is never wrong, and behind because it leaves more open, is told by more walks only.
        const auto as_right = [&](const PolicyScore& c) {
            return c.name != kChance && c.deficit < kOpenLead && c.share() >= ranking[0].share();
        };
        return ranking[0].victims >= kManyVictims && ranking[1].deficit > 2 * kEqually &&
               std::none_of(ranking.begin() + 1, ranking.end(), as_right);
    }

    void judge() {
        const auto& ranking = selection_.ranking();
        for (const auto& candidate : ranking) found_.agreement.emplace_back(candidate.name, candidate.share());
        const PolicyScore& best = ranking.front();
        if (best.victims < kMinVictims) return;
        if (!explains(best)) return judge_unexplained(best);
        std::vector<std::string> equal;
        for (const auto& candidate : ranking)
            if (candidate.deficit < kEqually && candidate.name != kChance) equal.push_back(candidate.name);
        if (equal.size() > 1) {
            found_.candidates = equal;
            return;
        }
        // Which way of several goes is guessed by policies that leave it open; one that says more and is right more
        // often is not out.
        const auto rival = std::ranges::max_element(
            ranking, {}, [](const PolicyScore& c) { return c.name == kChance ? 0 : c.share(); });
        if (rival->share() > best.share() + kClearlyMore) {
            found_.candidates = {best.name, rival->name};
            return;
        }
        const double sure = selection_.confidence();
        if (sure < kDecided) {
            found_.candidates = {best.name, ranking[1].name};
            return;
        }
        found_.name = best.name;
        found_.confidence = sure;
        std::vector<std::string_view> others(candidate_policies().begin(), candidate_policies().end());
        others.push_back(kTree);
        std::erase_if(others, [&](std::string_view other) {
            return other == best.name || !equivalent_policies(best.name, other, ways_);
        });
        if (!others.empty())
            found_.evidence = fmt::format("with {} ways, {} does the same", ways_, fmt::join(others, " or "));
    }

    [[nodiscard]] bool like_chance() const {
        return repeating() <= kRepeating && std::abs(preference_for_old_lines()) <= kLittlePreference;
    }

    /// Nothing known fits better than chance: it is chance only if the set does not repeat itself and prefers no line.
    void judge_unexplained(const PolicyScore& best) {
        const double again = repeating(), preference = preference_for_old_lines();
        found_.evidence = fmt::format(
            "{} evictions; the set periodic {:.0f}% of its misses from pass to pass; victims are {:.2f} of the way "
            "from "
            "the oldest line",
            best.victims, again * 100, 0.5 - preference);
        if (probe_.filtered()) return;  // what comes between to reach this level may be what does not fit
        if (again > kRepeating || std::abs(preference) > kPreference) {
            found_.name = "not-lru";
            found_.confidence = 0.8;
            found_.evidence = "none of the known policies: " + found_.evidence;
            return;
        }
        found_.name = kChance;
        found_.confidence = best.name == kChance ? selection_.confidence() : 0.8;
        find_odds();
    }

    /// Largest share of misses that come again after one and the same number of laps.
    [[nodiscard]] double repeating() const {
        double most = 0;
        for (std::size_t period = 1; period <= kMaxPeriod; ++period) {
            RepeatCount repeats;
            for (const auto& run : runs_)
                for (const auto& e : run.segments)
                    for (std::size_t i = period * run.sequence; i < e.missed.size(); ++i) {
                        const std::size_t before = i - period * run.sequence;
                        repeats.count(e.missed[i] && !e.outlier[i], e.missed[before] && !e.outlier[before]);
                    }
            if (repeats.either >= static_cast<std::size_t>(kMinVictims))
                most = std::max(most, static_cast<double>(repeats.both) / static_cast<double>(repeats.either));
        }
        return most;
    }

    /// 0: victims are as old as chance makes them; 0.5: always the oldest line.
    [[nodiscard]] double preference_for_old_lines() const {
        double sum = 0;
        int victims = 0;
        for (const auto& run : runs_)
            for (const auto& segment : run.segments) {
                std::vector<std::size_t> used(ways_, 0);
                std::size_t now = 0;
                for (const auto& step : random_steps(segment)) {
                    if (step.evicted && now > 2 * ways_) {
                        const auto newer =
                            std::count_if(used.begin(), used.end(), [&](std::size_t u) { return u > used[step.way]; });
                        sum += static_cast<double>(newer) / (ways_ - 1) - 0.5;
                        ++victims;
                    }
                    used[step.way] = ++now;
                }
            }
        return victims == 0 ? 0 : sum / victims;
    }

    void find_odds() {
        const auto odds = odds_of_ways(record_run(kOddsLoads).segments, ways_, outlier_rate_);
        // What one walk says, be it that there are none.
        found_.confidence *= kOneRun;
        if (odds.by_rank.empty()) return;
        found_.odds = odds.by_rank;
        found_.name = "way-odds";
        found_.confidence = kOneRun * odds.confidence;
    }

    const Probe& probe_;
    std::uint32_t ways_;
    std::uint64_t piece_;
    std::uint64_t fillers_per_line_ = 0;  ///< loads of the filler after each of the lines
    std::uint64_t filler_visits_ = 1;     ///< of a line of the filler in one visit
    std::uint64_t visits_ = 0;
    Offsets lines_, filler_;
    std::vector<PolicyRun> runs_;
    double outliers_ = 0, recorded_ = 0;  ///< loads of all runs
    double outlier_rate_ = 0;             ///< share of hits that read like misses
    PolicySelection selection_;
    PolicyFinding found_;
};

}  // namespace

PolicyFinding find_policy(const Probe& probe, const Offsets& lines, const Offsets& filler, std::uint64_t piece) {
    return PolicyDeduction(probe, lines, filler, piece).run();
}

}  // namespace gputomo::deduce::cache
