#include "deduce/cache/policy/eviction_trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

namespace gputomo::deduce::cache {
namespace {

/// Interpretations followed at once, and states that they start from. Sets of few ways get more of both, because
/// theirs are cheap: `kInterpretationsTimesWays` divided by the ways, within the bounds. Fewer may lose the right one
/// among outliers.
constexpr std::size_t kMaxInterpretations = 32, kMinInterpretations = 10, kInterpretationsTimesWays = 512;
constexpr std::size_t kMaxStartStates = 16, kMinStartStates = 6, kStartStatesTimesWays = 128;
/// Share of victims that a partly known policy need not explain. It makes a victim that the policy does not predict
/// likelier than an outlier.
constexpr double kPartialUnexplained = 0.3;
/// Log likelihood of a slow load that no interpretation explains.
constexpr double kContradiction = -20;
/// Log likelihood that a miss takes another time than other misses. It is a chosen value; near 0, outliers are taken
/// for misses.
constexpr double kUnusualMiss = -0.5;
/// An interpretation whose log likelihood is this much below the best one's is dropped.
constexpr double kMaxDeficit = 20;

/// One eviction of an interpretation. The evictions form a list from the last one back.
struct Eviction {
    std::size_t load = 0;  ///< index of the load whose miss evicted
    std::uint32_t way = 0;
    std::shared_ptr<const Eviction> before;
};

/// One interpretation of the segment up to a load.
struct Interpretation {
    std::unique_ptr<PolicyModel> model;
    std::vector<std::uint32_t> way_of;  ///< by line; before `miss`
    std::size_t miss = 0;               ///< last load that missed; its victim is not known yet
    double score = 0;
    double counted = 0;  ///< log likelihood of the second half
    int victims = 0, explained = 0;
    std::shared_ptr<const Eviction> evictions;

    [[nodiscard]] Interpretation copy() const {
        return {model->clone(), way_of, miss, score, counted, victims, explained, evictions};
    }
};

class Explainer {
public:
    Explainer(const TraceSegment& segment, std::uint32_t ways, double outlier_rate,
              std::optional<double> unexplained = {})
        : e_(segment),
          ways_(ways),
          unexplained_(unexplained),
          log_outlier_rate_(std::log(std::max(outlier_rate, 1e-4))),
          half_(segment.lines.size() / 2),
          max_interpretations_(std::clamp(kInterpretationsTimesWays / ways, kMinInterpretations, kMaxInterpretations)),
          used_(ways + 1, 0),
          unsure_(segment.lines.size()) {}

    Explanation run(const PolicyModel& policy) {
        std::size_t first = 0;
        while (first < e_.missed.size() && (!e_.missed[first] || e_.outlier[first])) ++first;
        if (first == e_.missed.size()) return {};
        start(policy, first);
        for (std::size_t load = first_ + 1; load < e_.lines.size(); ++load) {
            if (e_.missed[load]) slow(load);
            used_[e_.lines[load]] = load + 1;
        }
        const auto& best = interpretations_.front();
        Explanation result{best.counted, best.victims, best.explained, {}, unsure_};
        steps_of(best, result.steps);
        return result;
    }

private:
    void start(const PolicyModel& policy, std::size_t first) {
        first_ = first;
        std::mt19937_64 random(1);
        std::uint32_t way = 0;
        first_ways_.assign(ways_ + 1, 0);
        for (std::uint32_t line = 0; line <= ways_; ++line)
            if (line != e_.lines[first]) first_ways_[line] = way++;
        const std::size_t states =
            policy.start_matters() ? std::clamp(kStartStatesTimesWays / ways_, kMinStartStates, kMaxStartStates) : 1;
        for (std::size_t i = 0; i < states; ++i) {
            interpretations_.push_back({policy.clone(), first_ways_, first, 0, 0, 0, 0, nullptr});
            if (i > 0) interpretations_.back().model->randomize(random);
        }
        used_[e_.lines[first]] = first + 1;
    }

    /// A slow load was an outlier, or its line was the victim of the last miss.
    void slow(std::size_t load) {
        const std::uint32_t line = e_.lines[load];
        const bool counts = load >= half_;
        std::vector<Interpretation> next;
        for (auto& interpretation : interpretations_) {
            const auto unseen = lines_unseen_since(interpretation.miss);
            const bool may_be_absent = used_[line] <= interpretation.miss;
            if (may_be_absent) {
                Interpretation missed = interpretation.copy();
                if (e_.outlier[load]) missed.score += kUnusualMiss;
                evict(missed, line, load, counts);
                next.push_back(std::move(missed));
            }
            // The absent line is one that was not loaded since that miss. If this is the last such line, its slow load
            // is no outlier.
            if (unseen <= (may_be_absent ? 1 : 0)) continue;
            const double outlier_score = e_.outlier[load] ? 0 : log_outlier_rate_;
            interpretation.score += outlier_score;
            if (counts) interpretation.counted += outlier_score;
            next.push_back(std::move(interpretation));
        }
        if (next.empty()) {  // An earlier load was misinterpreted. Each line keeps a way of its own.
            next.push_back(std::move(interpretations_.front()));
            next.back().score += kContradiction;
            if (counts) next.back().counted += kContradiction;
            evict(next.back(), line, load, counts);
        }
        std::stable_sort(next.begin(), next.end(),
                         [](const Interpretation& a, const Interpretation& b) { return a.score > b.score; });
        while (next.back().score < next.front().score - kMaxDeficit) next.pop_back();
        interpretations_.clear();
        states_.clear();
        for (auto& interpretation : next)
            if (interpretations_.size() < max_interpretations_ && (next.size() == 1 || is_new(interpretation)))
                interpretations_.push_back(std::move(interpretation));
    }

    /// Whether no better interpretation expects the same from now on. If so, its state is recorded.
    [[nodiscard]] bool is_new(const Interpretation& interpretation) {
        auto state = interpretation.model->state();
        for (std::size_t i = 0; i < interpretations_.size(); ++i) {
            if (interpretations_[i].miss != interpretation.miss || states_[i] != state ||
                !same_ways(interpretations_[i], interpretation))
                continue;
            if (interpretations_[i].way_of != interpretation.way_of) unsure_ = std::min(unsure_, interpretation.miss);
            return false;
        }
        states_.push_back(std::move(state));
        return true;
    }
    /// Compares the ways of all lines but the one that is loaded now.
    [[nodiscard]] bool same_ways(const Interpretation& a, const Interpretation& b) const {
        for (std::size_t line = 0; line < a.way_of.size(); ++line)
            if (line != e_.lines[a.miss] && !a.model->interchangeable(a.way_of[line], b.way_of[line])) return false;
        return true;
    }

    [[nodiscard]] std::ptrdiff_t lines_unseen_since(std::size_t miss) const {
        return std::count_if(used_.begin(), used_.end(), [&](std::size_t used) { return used <= miss; });
    }

    void evict(Interpretation& interpretation, std::uint32_t line, std::size_t load, bool counts) const {
        const std::uint32_t way = interpretation.way_of[line];
        const double odds = interpretation.model->odds(way);
        const double likelihood =
            unexplained_ ? likelihood_of_victim(odds, ways_, *unexplained_) : likelihood_of_victim(odds, ways_);
        interpretation.score += likelihood;
        if (counts) {
            interpretation.counted += likelihood;
            ++interpretation.victims;
            interpretation.explained += odds > 0 ? 1 : 0;
        }
        interpretation.model->fill(way);
        interpretation.way_of[e_.lines[interpretation.miss]] = way;
        for (std::size_t i = interpretation.miss + 1; i < load; ++i)
            interpretation.model->touch(interpretation.way_of[e_.lines[i]]);
        interpretation.evictions =
            std::make_shared<const Eviction>(Eviction{interpretation.miss, way, interpretation.evictions});
        interpretation.miss = load;
    }

    void steps_of(const Interpretation& interpretation, std::vector<Step>& steps) const {
        std::map<std::size_t, std::uint32_t> evictions;
        for (const auto* e = interpretation.evictions.get(); e != nullptr; e = e->before.get())
            evictions.emplace(e->load, e->way);
        auto way_of = first_ways_;
        for (std::size_t load = first_; load < interpretation.miss; ++load) {
            const auto eviction = evictions.find(load);
            if (eviction != evictions.end()) way_of[e_.lines[load]] = eviction->second;
            steps.push_back({load, way_of[e_.lines[load]], eviction != evictions.end()});
        }
    }

    const TraceSegment& e_;
    std::uint32_t ways_;
    std::optional<double> unexplained_;  ///< share of the victims
    double log_outlier_rate_;
    std::size_t half_, max_interpretations_;
    std::size_t first_ = 0;
    std::vector<std::size_t> used_;  ///< by line: index of its last load, plus 1
    std::vector<std::uint32_t> first_ways_;
    std::vector<Interpretation> interpretations_;
    std::vector<std::vector<std::int64_t>> states_;  ///< of the interpretations
    std::size_t unsure_;
};

}  // namespace

double likelihood_of_victim(double odds, std::uint32_t ways, double unexplained) {
    return std::log((1 - unexplained) * odds + unexplained / ways);
}

Explanation explain(const TraceSegment& segment, std::uint32_t ways, const PolicyModel& policy, double outlier_rate) {
    return Explainer(segment, ways, outlier_rate).run(policy);
}

Explanation explain_with_partial_model(const TraceSegment& segment, std::uint32_t ways, const PolicyModel& policy,
                                       double outlier_rate) {
    return Explainer(segment, ways, outlier_rate, kPartialUnexplained).run(policy);
}

WayOrder learn_way_order(const std::vector<Step>& steps, std::uint32_t ways, const PolicyModel& policy) {
    const auto model = policy.clone();
    std::vector<int> before(std::size_t{ways} * ways, 0);  // [a * ways + b]: a was the victim although b was possible
    double cost = 0;
    for (std::size_t i = 0; i < steps.size() / 2; ++i) {
        if (!steps[i].evicted) {
            model->touch(steps[i].way);
            continue;
        }
        if (const double odds = model->odds(steps[i].way); odds > 0) {
            cost -= std::log(odds);
            for (std::uint32_t other = 0; other < ways; ++other)
                if (model->odds(other) > 0) ++before[steps[i].way * ways + other];
        }
        model->fill(steps[i].way);
    }
    // The next place goes to the way before which the fewest of the remaining ways were evicted.
    std::vector<int> late(ways, 0);
    const auto ahead = [&](std::uint32_t a, std::uint32_t b) {
        return std::max(0, before[a * ways + b] - before[b * ways + a]);
    };
    for (std::uint32_t a = 0; a < ways; ++a)
        for (std::uint32_t b = 0; b < ways; ++b) late[a] += ahead(b, a);
    std::vector<std::uint32_t> places(ways, ways);
    for (std::uint32_t place = 0; place < ways; ++place) {
        std::uint32_t next = ways;
        for (std::uint32_t way = 0; way < ways; ++way)
            if (places[way] == ways && (next == ways || late[way] < late[next])) next = way;
        places[next] = place;
        for (std::uint32_t way = 0; way < ways; ++way) late[way] -= ahead(next, way);
    }
    return {places, std::min(cost, std::lgamma(ways + 1.0))};
}

}  // namespace gputomo::deduce::cache
