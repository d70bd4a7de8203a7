#include "deduce/geometry/policy.hpp"

#include "deduce/geometry/victims.hpp"
#include "deduce/geometry/way_tree.hpp"
#include "deduce/statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace gputomo::deduce::geometry {
namespace {

/// Walks with different orders, more of them where lines are visited less often in each; rounds over the set's lines in each, at least;
/// loads of all, at most.
constexpr std::uint64_t kWalks = 6, kMoreWalks = 4;
constexpr std::uint64_t kFewestRounds = 40, kRoundsPerWay = 3, kMostLoads = 1 << 17, kMostVisits = 16;
/// Evictions that the judgement rests on, at least.
constexpr int kFewestVictims = 12, kManyVictims = 40;
/// Further walks, each batch as long as all before, while two candidates explain about equally well.
constexpr int kBatches = 3;
/// Ways whose order is looked into.
constexpr std::uint32_t kMostOrdered = 256;
/// A candidate that explains less of the victims than this is not the policy.
constexpr double kExplained = 0.9;
/// Behind another level, loads that come between take part in what is replaced: what does not explain nearly all is wrong.
constexpr double kExplainedBehind = 0.99;
/// Less sure than this, the runner-up is left beside the best one.
constexpr double kDecided = 0.6;
/// Share of the victims by which another one explains clearly more.
constexpr double kClearlyMore = 0.05;
/// Candidates whose likelihoods differ by less than this factor explain equally well.
const double kEqually = std::log(50.0);
/// Share of its misses that a set repeats after some laps: more than this is no chance.
constexpr double kRepeating = 0.7;
constexpr std::uint32_t kMostPeriod = 12;
/// For odds of single ways: loads of a long walk, share by which a random policy's victims may prefer old lines.
constexpr std::uint64_t kOddsLoads = 1 << 16;
constexpr double kPreference = 0.15;
/// Loads for each way that show first odds, how often they are refined, and odds that differ at all.
constexpr std::size_t kFirstPiece = 60;
constexpr int kRefinements = 4;
constexpr double kLeastDifference = 0.02;
/// Of the accidents, at least one in so many looks like a miss.
constexpr double kLeastHidden = 50;
/// Likelihoods of one walk that differ by a factor less than e to this say nothing.
constexpr double kTie = 2;
/// Of one walk that agrees, by Laplace's rule, with those before that found no other explanation.
constexpr double kOneWalk = 0.9;

struct Walk {
    std::vector<Episode> episodes;
    std::size_t tour = 0;
};

/// Lines of the company among those of the set.
constexpr std::uint32_t kCompany = ~0U;

/// Other lines of a set between two visits of one, at least.
std::uint64_t rounds_apart(std::uint64_t lines) { return lines / 4; }

/// Random orders of the lines, one after the other round and round, in which no line comes back at once: a nearer level would
/// have it still.
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

/// From `least` to `most` visits of each line in any order: lines come back sooner and later than in rounds, and some more often than
/// others, which parts policies that agree on lines that come again and again alike.
Offsets draw_visits(Probe& probe, std::uint64_t lines, std::uint64_t least, std::uint64_t most) {
    Offsets visits;
    for (std::uint64_t line = 0; line < lines; ++line) visits.insert(visits.end(), least + probe.draw(most - least + 1), line);
    std::shuffle(visits.begin(), visits.end(), probe.random());
    return visits;
}

class PolicyFinder {
public:
    PolicyFinder(Probe& probe, const Offsets& lines, const Offsets& company, std::uint64_t piece)
        : probe_(probe), ways_(static_cast<std::uint32_t>(lines.size() - 1)), piece_(piece), lines_(lines), company_(company) {
        // Each word of a tour is there once: a line of the company that comes several times between the set's lines needs as many words.
        between_ = company.size() / std::max<std::uint64_t>(1, rounds_apart(lines.size()));
        uses_ = company.empty() ? 1 : std::max<std::uint64_t>(1, (lines.size() * between_ + company.size() - 1) / company.size());
        visits_ = std::min(kMostVisits, piece / probe.question().word / uses_);
    }

    PolicyFinding run() {
        if (visits_ == 0)
            return {.evidence = "lines are too short for as many visits as lines of other sets need between those of one: the policy is not determined"};
        const std::uint64_t rounds = std::max<std::uint64_t>(kFewestRounds, kRoundsPerWay * ways_);
        std::uint64_t loads = std::min(kMostLoads / kWalks, rounds * lines_.size());
        for (int batch = 0; batch < kBatches && !decided(); ++batch, loads *= 2) {
            const std::uint64_t walks = std::clamp(kMostLoads / kWalks / loads * kWalks, kWalks, kWalks * std::min(kMoreWalks, kMostVisits / visits_));
            for (std::uint64_t i = 0; i < walks; ++i) walks_.push_back(walk(loads));
            accidental_ = accidents_like_misses();
            weigh();
        }
        judge();
        return std::move(found_);
    }

private:
    struct Candidate {
        std::string name;
        double likelihood = 0;
        int victims = 0, explained = 0;
        std::vector<double> by_walk;  ///< likelihood of each walk
        [[nodiscard]] double share() const { return victims == 0 ? 0 : static_cast<double>(explained) / victims; }
    };

    /// Each kind of tour shows other policies best: deterministic sets repeat themselves with each lap, some with hardly an eviction.
    Offsets draw_tour(bool in_rounds) {
        if (in_rounds || walks_.size() % 3 == 0) return draw_rounds(probe_, lines_.size(), visits_);
        return draw_visits(probe_, lines_.size(), walks_.size() % 3 == 1 ? visits_ : 1, visits_);
    }
    /// A model with what was learnt of an episode, and the price of that: else a policy that leaves much open would explain what one that
    /// leaves nothing open foretells.
    struct Learnt {
        std::unique_ptr<PolicyModel> model;
        double price = 0;
    };

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
        for (std::size_t at = 0; at < recorded.missed.size(); at += recorded.unbroken) {
            const std::size_t end = std::min(recorded.missed.size(), at + recorded.unbroken);
            Episode episode;
            for (std::size_t i = at; i < end; ++i) {
                if (numbers[i % numbers.size()] == kCompany) continue;
                episode.lines.push_back(numbers[i % numbers.size()]);
                episode.missed.push_back(recorded.missed[i]);
                episode.odd.push_back(recorded.odd[i]);
            }
            walk.episodes.push_back(std::move(episode));
        }
        return walk;
    }

    /// Of the accidents, those are known that are odd.
    [[nodiscard]] double accidents_like_misses() const {
        double odd = 0, all = 0;
        for (const auto& walk : walks_)
            for (const auto& e : walk.episodes) {
                odd += static_cast<double>(std::count(e.odd.begin(), e.odd.end(), true));
                all += static_cast<double>(e.odd.size());
            }
        return std::max(probe_.accidents() / kLeastHidden, probe_.accidents() - odd / std::max(1.0, all));
    }
    [[nodiscard]] std::vector<Step> random_steps(const Episode& episode) const {
        return explain(episode, ways_, *make_model("random", ways_), accidental_).steps;
    }

    void weigh() {
        candidates_.clear();
        for (const auto name : candidate_policies()) {
            if (same_as_simpler(name)) continue;
            consider(name, [&](const Episode&) { return Learnt{make_model(name, ways_)}; });
            if (ways_ > kMostOrdered || !make_model(name, ways_)->ties()) continue;
            // As it is, or with a preference for some ways that earlier victims show: the better explanation counts.
            consider(name, [&](const Episode& e) {
                auto model = make_model(name, ways_);
                const auto places = learn_places(explain(e, ways_, *model, accidental_).steps, ways_, *model);
                model->prefer(places.of_way);
                return Learnt{std::move(model), places.price};
            });
            const auto worse = candidates_.end() - (candidates_.back().likelihood > candidates_[candidates_.size() - 2].likelihood ? 2 : 1);
            candidates_.erase(worse);
        }
        weigh_tree();
        std::stable_sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) { return a.likelihood > b.likelihood; });
    }
    void weigh_tree() {
        if (same_as_simpler("tree-plru")) return;
        bool any_tree = false;
        consider("tree-plru", [&](const Episode& e) {
            const auto tree = learn_tree(random_steps(e), ways_);
            any_tree = any_tree || tree.nodes.size() > 1;
            return Learnt{make_tree_model(tree), price_of(tree)};
        });
        if (!any_tree) candidates_.pop_back();
    }
    /// Whether the policy is, with so few ways, the same machine as one considered before.
    [[nodiscard]] bool same_as_simpler(std::string_view name) const {
        return std::ranges::any_of(candidates_, [&](const Candidate& c) { return same_machine(c.name, name, ways_); });
    }
    [[nodiscard]] bool decided() const {
        return !candidates_.empty() && candidates_[0].victims >= kManyVictims && candidates_[0].likelihood - candidates_[1].likelihood > 2 * kEqually;
    }

    /// What it costs to say one of all trees of such nodes, as a logarithm; sides of a node are no different.
    [[nodiscard]] double price_of(const WayTree& tree) const { return std::lgamma(ways_ + 1.0) - static_cast<double>(tree.nodes.size() / 2) * std::log(2); }
    template <class MakeModel>
    void consider(std::string_view name, MakeModel make) {
        Candidate candidate{std::string(name), 0, 0, 0, {}};
        for (const auto& walk : walks_) {
            candidate.by_walk.push_back(0);
            for (const auto& episode : walk.episodes) {
                const Learnt learnt = make(episode);
                const auto explanation = explain(episode, ways_, *learnt.model, accidental_);
                candidate.likelihood += explanation.likelihood - learnt.price;
                candidate.by_walk.back() += explanation.likelihood - learnt.price;
                candidate.victims += explanation.victims;
                candidate.explained += explanation.explained;
            }
        }
        candidates_.push_back(candidate);
    }

    void judge() {
        for (const auto& candidate : candidates_) found_.agreement.emplace_back(candidate.name, candidate.share());
        const Candidate& best = candidates_.front();
        if (best.victims < kFewestVictims) return;
        if (best.name == "random" || best.share() < (probe_.hidden() ? kExplainedBehind : kExplained)) return judge_unexplained(best);
        std::vector<std::string> equal;
        for (const auto& candidate : candidates_)
            if (best.likelihood - candidate.likelihood < kEqually && candidate.name != "random") equal.push_back(candidate.name);
        if (equal.size() > 1) {
            found_.candidates = equal;
            return;
        }
        // Which way of several goes is guessed by policies that leave it open; one that says more and is right more often is not out.
        const auto rival = std::ranges::max_element(candidates_, {}, [](const Candidate& c) { return c.name == "random" ? 0 : c.share(); });
        if (rival->share() > best.share() + kClearlyMore) {
            found_.candidates = {best.name, rival->name};
            return;
        }
        const double sure = confidence(best, candidates_[1]);
        if (sure < kDecided) {
            found_.candidates = {best.name, candidates_[1].name};
            return;
        }
        found_.name = best.name;
        found_.confidence = sure;
        std::vector<std::string_view> others(candidate_policies().begin(), candidate_policies().end());
        others.push_back("tree-plru");
        std::erase_if(others, [&](std::string_view other) { return other == best.name || !same_machine(best.name, other, ways_); });
        if (!others.empty()) found_.evidence = fmt::format("with {} ways, {} does the same", ways_, fmt::join(others, " or "));
    }

    /// How much of the walk the best one explains, how much worse the runner-up is, and in how many of the walks it is worse: a
    /// model that is a little off may win by a large likelihood, but hardly in every order of the lines.
    [[nodiscard]] static double confidence(const Candidate& best, const Candidate& second) {
        double gained = 0, lost = 0, decisive = 0;
        for (std::size_t i = 0; i < best.by_walk.size(); ++i) {
            const double difference = best.by_walk[i] - second.by_walk[i];
            decisive += std::min(1.0, std::abs(difference) / kTie);
            (difference > 0 ? gained : lost) += std::abs(difference);
        }
        const double won = decisive * gained / std::max(kTie, gained + lost);
        const double margin = best.likelihood - second.likelihood;
        return (best.explained + 1.0) / (best.victims + 2.0) / (1 + std::exp(-margin)) * (won + 1) / (decisive + 2);
    }

    /// Nothing known fits better than chance: it is chance only if the set does not repeat itself and prefers no line.
    void judge_unexplained(const Candidate& best) {
        const double again = repeating(), preference = preference_for_old_lines();
        found_.evidence = fmt::format("{} evictions; the set repeats {:.0f}% of its misses from lap to lap; victims are {:.2f} of the way from the oldest line",
                                      best.victims, again * 100, 0.5 - preference);
        if (probe_.hidden()) return;  // what comes between to reach this level may be what does not fit
        if (again > kRepeating || std::abs(preference) > kPreference) {
            found_.name = "not-lru";
            found_.confidence = 0.8;
            found_.evidence = "none of the known policies: " + found_.evidence;
            return;
        }
        found_.name = "random";
        found_.confidence = best.name == "random" ? confidence(best, candidates_[1]) : 0.8;
        find_odds();
    }

    /// Largest share of misses that come again after one and the same number of laps.
    [[nodiscard]] double repeating() const {
        double most = 0;
        for (std::uint32_t period = 1; period <= kMostPeriod; ++period) {
            std::size_t both = 0, either = 0;
            for (const auto& walk : walks_)
                for (const auto& e : walk.episodes)
                    for (std::size_t i = period * walk.tour; i < e.missed.size(); ++i) {
                        const std::size_t before = i - period * walk.tour;
                        const bool now = e.missed[i] && !e.odd[i], then = e.missed[before] && !e.odd[before];
                        both += now && then ? 1 : 0;
                        either += now || then ? 1 : 0;
                    }
            if (either >= static_cast<std::size_t>(kFewestVictims)) most = std::max(most, static_cast<double>(both) / static_cast<double>(either));
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
                        const auto newer = std::count_if(used.begin(), used.end(), [&](std::size_t u) { return u > used[step.way]; });
                        sum += static_cast<double>(newer) / (ways_ - 1) - 0.5;
                        ++victims;
                    }
                    used[step.way] = ++now;
                }
            }
        return victims == 0 ? 0 : sum / victims;
    }

    /// A long walk, in which each way's victims are counted; ways that chance may part have one and the same odds.
    void find_odds() {
        std::vector<std::vector<double>> by_rank(ways_);
        double gain = 0, total = 0;
        for (const auto& episode : walk(kOddsLoads).episodes) {
            auto counts = victims_by_way(episode);
            const double here = std::accumulate(counts.begin(), counts.end(), 0.0);
            if (here < kFewestVictims * ways_) continue;
            std::sort(counts.begin(), counts.end(), std::greater<>());
            gain += pool_equal_ways(counts);
            total += here;
            for (std::uint32_t i = 0; i < ways_; ++i) by_rank[i].push_back(counts[i] / here);
        }
        if (by_rank[0].empty() || gain < kEqually) return;
        for (auto& shares : by_rank) found_.odds.push_back(median(shares));
        const double sum = std::accumulate(found_.odds.begin(), found_.odds.end(), 0.0);
        for (auto& odds : found_.odds) odds /= sum;
        if (found_.odds.front() - found_.odds.back() < kLeastDifference) {
            found_.odds.clear();
            return;
        }
        found_.name = "way-odds";
        found_.confidence = (total + 1) / (total + 2) / (1 + std::exp(-gain)) * kOneWalk;
    }
    /// Slow loads that may be accidents or misses leave open which of two ways a line is in from then on. Victims before and after tell, once
    /// odds are known: those of a piece with few such loads, then those that the whole shows with them.
    [[nodiscard]] std::vector<double> victims_by_way(const Episode& episode) const {
        const auto count = [&](const std::vector<Step>& steps, std::size_t end) {
            std::vector<double> counts(ways_, 0);
            for (const auto& step : steps)
                if (step.evicted && step.load < end) ++counts[step.way];
            return counts;
        };
        auto counts = count(random_steps(episode), kFirstPiece * ways_);
        for (int i = 0; i < kRefinements; ++i) {
            const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
            std::vector<double> odds(counts);
            for (auto& share : odds) share = (share + 1) / (sum + ways_);
            counts = count(explain(episode, ways_, *make_odds_model(odds), accidental_).steps, episode.lines.size());
        }
        return counts;
    }
    /// Counts, largest first, become the means of groups that differ; returns by how much that explains them better than equal odds
    /// do, less the price of the groups (Schwarz 1978) and of choosing where to cut.
    static double pool_equal_ways(std::span<double> counts) {
        const auto size = static_cast<double>(counts.size());
        const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
        const auto likelihood = [](double sum, double ways) { return sum > 0 ? sum * std::log(sum / ways) : 0; };
        double best = 0, head = 0;
        std::size_t cut = 0;
        for (std::size_t i = 1; i < counts.size(); ++i) {
            head += counts[i - 1];
            const double gain = likelihood(head, static_cast<double>(i)) + likelihood(total - head, size - static_cast<double>(i)) - likelihood(total, size) -
                                std::log(total) / 2 - 2 * std::log(size);
            if (gain > best) best = gain, cut = i;
        }
        if (cut > 0) return best + pool_equal_ways(counts.first(cut)) + pool_equal_ways(counts.subspan(cut));
        std::fill(counts.begin(), counts.end(), total / size);
        return 0;
    }

    Probe& probe_;
    std::uint32_t ways_;
    std::uint64_t piece_;
    std::uint64_t between_ = 0;  ///< loads of the company after each of the lines
    std::uint64_t uses_ = 1;     ///< of a line of the company in one visit
    std::uint64_t visits_ = 0;
    Offsets lines_, company_;
    std::vector<Walk> walks_;
    double accidental_ = 0;  ///< share of hits that read like misses
    std::vector<Candidate> candidates_;
    PolicyFinding found_;
};

}  // namespace

PolicyFinding find_policy(Probe& probe, const Offsets& lines, const Offsets& company, std::uint64_t piece) {
    return PolicyFinder(probe, lines, company, piece).run();
}

}  // namespace gputomo::deduce::geometry
