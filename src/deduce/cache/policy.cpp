#include "deduce/cache/policy.hpp"

#include "deduce/cache/contest.hpp"
#include "deduce/cache/repeats.hpp"
#include "deduce/cache/victims.hpp"
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
constexpr std::uint64_t kWalks = 6, kMoreWalks = 4;
constexpr std::uint64_t kFewestRounds = 160, kRoundsPerWay = 3, kMostLoads = 1 << 17, kMostVisits = 16;
/// Evictions that the judgement rests on, at least.
constexpr int kFewestVictims = 12, kManyVictims = 40;
/// Further walks, each batch as long as all before, while two candidates explain about equally well.
constexpr int kBatches = 3;
/// A candidate that explains less of the victims than this is not the policy.
constexpr double kExplained = 0.9;
/// A tree of many ways is learnt in part; one that is none foresees one in as many victims as it has ways.
constexpr double kExplainedByTree = 0.7;
/// Behind another level, loads that come between take part in what is replaced: what does not explain nearly all is
/// wrong.
constexpr double kExplainedBehind = 0.99;
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
constexpr std::size_t kWalksForTree = 12;
/// Of the accidents, at least one in so many looks like a miss.
constexpr double kLeastHidden = 50;
/// Of one walk that agrees, by Laplace's rule, with those before that found no other explanation.
constexpr double kOneWalk = 0.9;

/// Lines of the company among those of the set.
constexpr std::uint32_t kCompany = ~0U;

/// Other lines of a set between two visits of one, at least.
std::uint64_t rounds_apart(std::uint64_t lines) { return lines / 4; }

/// Random orders of the lines, one after the other round and round, in which no line comes back at once: a nearer level
/// would have it still.
Offsets draw_rounds(Probe& probe, std::uint64_t lines, std::uint64_t count) {
    constexpr int kMostShuffles = 1000;
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
        for (int i = 0; i < kMostShuffles; ++i) {
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
Offsets draw_similar_rounds(Probe& probe, std::uint64_t lines, std::uint64_t count) {
    constexpr std::uint64_t kFewestParts = 10, kMostParts = 50;
    // By less than such a part of a round each line comes sooner or later than in the last one.
    const std::uint64_t moves =
        std::max<std::uint64_t>(2, 2 * lines / (kFewestParts + probe.draw(kMostParts - kFewestParts)));
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
Offsets draw_visits(Probe& probe, std::uint64_t lines, std::uint64_t least, std::uint64_t most) {
    Offsets visits;
    for (std::uint64_t line = 0; line < lines; ++line)
        visits.insert(visits.end(), least + probe.draw(most - least + 1), line);
    std::shuffle(visits.begin(), visits.end(), probe.random());
    return visits;
}

class PolicyFinder {
public:
    PolicyFinder(Probe& probe, const Offsets& lines, const Offsets& company, std::uint64_t piece)
        : probe_(probe),
          ways_(static_cast<std::uint32_t>(lines.size() - 1)),
          piece_(piece),
          lines_(lines),
          company_(company),
          contest_(ways_) {
        // Each word of a tour is there once: a line of the company that comes several times between the set's lines
        // needs as many words.
        between_ = company.size() / std::max<std::uint64_t>(1, rounds_apart(lines.size()));
        uses_ = company.empty()
                    ? 1
                    : std::max<std::uint64_t>(1, (lines.size() * between_ + company.size() - 1) / company.size());
        visits_ = std::min(kMostVisits, piece / probe.question().word / uses_);
    }

    PolicyFinding run() {
        if (visits_ == 0)
            return {.evidence =
                        "lines are too short for as many visits as lines of other sets need between those of one: the "
                        "policy is not determined"};
        const std::uint64_t rounds = std::max<std::uint64_t>(kFewestRounds, kRoundsPerWay * ways_);
        const std::uint64_t loads = std::min(kMostLoads / kWalks, rounds * lines_.size());
        std::vector<std::uint64_t> plan;
        for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
            const std::uint64_t longer = loads << batch;
            plan.insert(
                plan.end(),
                std::clamp(kMostLoads / kWalks / longer, std::uint64_t{1}, std::min(kMoreWalks, kMostVisits / visits_)),
                longer);
        }
        for (std::size_t i = 0; i < plan.size() && !(i > 0 && decided()); ++i) {
            for (std::uint64_t w = 0; w < kWalks; ++w) walks_.push_back(walk(plan[i]));
            accidental_ = accidents_like_misses();
            contest_.run(walks_, (plan.size() - 1 - i) * kWalks, accidental_);
        }
        judge();
        return std::move(found_);
    }

private:
    /// Each kind of tour shows other policies best: deterministic sets repeat themselves with each lap, some with
    /// hardly an eviction.
    Offsets draw_tour(bool in_rounds) {
        const std::size_t kind = walks_.size() % 4;
        if (in_rounds || kind == 3) return draw_rounds(probe_, lines_.size(), visits_);
        if (kind == 0) return draw_similar_rounds(probe_, lines_.size(), visits_);
        return draw_visits(probe_, lines_.size(), kind == 1 ? visits_ : 1, visits_);
    }
    Walk walk(std::uint64_t loads) {
        Offsets tour, visited(lines_.size(), 0);
        std::vector<std::uint32_t> numbers;
        const std::uint64_t word = probe_.question().word, apart = piece_ / visits_ / word * word;
        std::uint64_t others = 0, v = 0;
        const bool in_rounds = !company_.empty() || probe_.hidden();
        for (const auto line : draw_tour(in_rounds)) {
            if (in_rounds && visited[line] > v) others = 0, ++v;
            tour.push_back(lines_[line] + visited[line]++ * apart);
            numbers.push_back(static_cast<std::uint32_t>(line));
            for (std::uint64_t i = 0; i < between_; ++i, ++others, numbers.push_back(kCompany))
                tour.push_back(company_[others % company_.size()] + v * apart + others / company_.size() * word);
        }
        const auto laps = static_cast<std::uint32_t>(std::max<std::uint64_t>(2, loads * (between_ + 1) / tour.size()));
        const auto recorded = probe_.record(tour, 2, laps);
        Walk walk{{}, tour.size() / (between_ + 1)};
        for (std::size_t at = 0; at < recorded.missed.size(); at += recorded.segment_loads) {
            const std::size_t end = std::min(recorded.missed.size(), at + recorded.segment_loads);
            Episode episode;
            for (std::size_t i = at; i < end; ++i) {
                if (numbers[i % numbers.size()] == kCompany) continue;
                episode.lines.push_back(numbers[i % numbers.size()]);
                episode.missed.push_back(recorded.missed[i]);
                episode.odd.push_back(recorded.odd[i]);
            }
            odd_ += static_cast<double>(std::count(episode.odd.begin(), episode.odd.end(), true));
            recorded_ += static_cast<double>(episode.odd.size());
            leave_out_accidents(episode, walk.tour, probe_.accidents());
            walk.episodes.push_back(std::move(episode));
        }
        return walk;
    }

    /// Of the accidents, those are known that are odd.
    [[nodiscard]] double accidents_like_misses() const {
        return std::max(probe_.accidents() / kLeastHidden, probe_.accidents() - odd_ / std::max(1.0, recorded_));
    }
    [[nodiscard]] std::vector<Step> random_steps(const Episode& episode) const {
        return explain(episode, ways_, *make_model(kChance, ways_), accidental_).steps;
    }

    [[nodiscard]] bool explains(const Candidate& candidate) const {
        const double least = probe_.hidden()           ? kExplainedBehind
                             : candidate.name == kTree ? kExplainedByTree
                                                       : kExplained;
        return candidate.name != kChance && candidate.share() >= least;
    }

    [[nodiscard]] bool decided() const {
        const auto& ranking = contest_.ranking();
        // A set that is neither explained nor left to chance may have a tree of more ways than walks so far are long
        // enough for.
        if (!probe_.hidden() && !explains(ranking[0]) && walks_.size() < kWalksForTree && contest_.may_be_tree() &&
            !like_chance())
            return false;
        if (explains(ranking[0]) && contest_.confidence() < kDecided) return false;
        // One that is never wrong, and behind because it leaves more open, is told by more walks only.
        const auto as_right = [&](const Candidate& c) {
            return c.name != kChance && c.behind < kOpenLead && c.share() >= ranking[0].share();
        };
        return ranking[0].victims >= kManyVictims && ranking[1].behind > 2 * kEqually &&
               std::none_of(ranking.begin() + 1, ranking.end(), as_right);
    }

    void judge() {
        const auto& ranking = contest_.ranking();
        for (const auto& candidate : ranking) found_.agreement.emplace_back(candidate.name, candidate.share());
        const Candidate& best = ranking.front();
        if (best.victims < kFewestVictims) return;
        if (!explains(best)) return judge_unexplained(best);
        std::vector<std::string> equal;
        for (const auto& candidate : ranking)
            if (candidate.behind < kEqually && candidate.name != kChance) equal.push_back(candidate.name);
        if (equal.size() > 1) {
            found_.candidates = equal;
            return;
        }
        // Which way of several goes is guessed by policies that leave it open; one that says more and is right more
        // often is not out.
        const auto rival =
            std::ranges::max_element(ranking, {}, [](const Candidate& c) { return c.name == kChance ? 0 : c.share(); });
        if (rival->share() > best.share() + kClearlyMore) {
            found_.candidates = {best.name, rival->name};
            return;
        }
        const double sure = contest_.confidence();
        if (sure < kDecided) {
            found_.candidates = {best.name, ranking[1].name};
            return;
        }
        found_.name = best.name;
        found_.confidence = sure;
        std::vector<std::string_view> others(candidate_policies().begin(), candidate_policies().end());
        others.push_back(kTree);
        std::erase_if(others, [&](std::string_view other) {
            return other == best.name || !same_machine(best.name, other, ways_);
        });
        if (!others.empty())
            found_.evidence = fmt::format("with {} ways, {} does the same", ways_, fmt::join(others, " or "));
    }

    [[nodiscard]] bool like_chance() const {
        return repeating() <= kRepeating && std::abs(preference_for_old_lines()) <= kLittlePreference;
    }

    /// Nothing known fits better than chance: it is chance only if the set does not repeat itself and prefers no line.
    void judge_unexplained(const Candidate& best) {
        const double again = repeating(), preference = preference_for_old_lines();
        found_.evidence = fmt::format(
            "{} evictions; the set repeats {:.0f}% of its misses from lap to lap; victims are {:.2f} of the way from "
            "the oldest line",
            best.victims, again * 100, 0.5 - preference);
        if (probe_.hidden()) return;  // what comes between to reach this level may be what does not fit
        if (again > kRepeating || std::abs(preference) > kPreference) {
            found_.name = "not-lru";
            found_.confidence = 0.8;
            found_.evidence = "none of the known policies: " + found_.evidence;
            return;
        }
        found_.name = kChance;
        found_.confidence = best.name == kChance ? contest_.confidence() : 0.8;
        find_odds();
    }

    /// Largest share of misses that come again after one and the same number of laps.
    [[nodiscard]] double repeating() const {
        double most = 0;
        for (std::size_t period = 1; period <= kMostPeriod; ++period) {
            Repeated repeated;
            for (const auto& walk : walks_)
                for (const auto& e : walk.episodes)
                    for (std::size_t i = period * walk.tour; i < e.missed.size(); ++i) {
                        const std::size_t before = i - period * walk.tour;
                        repeated.count(e.missed[i] && !e.odd[i], e.missed[before] && !e.odd[before]);
                    }
            if (repeated.either >= static_cast<std::size_t>(kFewestVictims))
                most = std::max(most, static_cast<double>(repeated.both) / static_cast<double>(repeated.either));
        }
        return most;
    }

    /// 0: victims are as old as chance makes them; 0.5: always the oldest line.
    [[nodiscard]] double preference_for_old_lines() const {
        double sum = 0;
        int victims = 0;
        for (const auto& walk : walks_)
            for (const auto& episode : walk.episodes) {
                std::vector<std::size_t> used(ways_, 0);
                std::size_t now = 0;
                for (const auto& step : random_steps(episode)) {
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
        const auto odds = odds_of_ways(walk(kOddsLoads).episodes, ways_, accidental_);
        // What one walk says, be it that there are none.
        found_.confidence *= kOneWalk;
        if (odds.by_rank.empty()) return;
        found_.odds = odds.by_rank;
        found_.name = "way-odds";
        found_.confidence = kOneWalk * odds.confidence;
    }

    Probe& probe_;
    std::uint32_t ways_;
    std::uint64_t piece_;
    std::uint64_t between_ = 0;  ///< loads of the company after each of the lines
    std::uint64_t uses_ = 1;     ///< of a line of the company in one visit
    std::uint64_t visits_ = 0;
    Offsets lines_, company_;
    std::vector<Walk> walks_;
    double odd_ = 0, recorded_ = 0;  ///< loads of all walks
    double accidental_ = 0;          ///< share of hits that read like misses
    Contest contest_;
    PolicyFinding found_;
};

}  // namespace

PolicyFinding find_policy(Probe& probe, const Offsets& lines, const Offsets& company, std::uint64_t piece) {
    return PolicyFinder(probe, lines, company, piece).run();
}

}  // namespace gputomo::deduce::cache
