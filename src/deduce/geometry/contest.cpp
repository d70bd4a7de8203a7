#include "deduce/geometry/contest.hpp"

#include "deduce/geometry/way_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gputomo::deduce::geometry {
namespace {

/// Ways whose order is looked into.
constexpr std::uint32_t kMostOrdered = 256;
/// Behind the leader by such a factor, as a logarithm, besides what the leader may lose in walks to come: no more walks.
const double kOut = 3 * std::log(50.0);
/// A candidate that lost each of so many walks and leaves this much unexplained: none either.
constexpr std::size_t kLostWalks = 3;
constexpr double kUnexplains = 0.2;
/// Walks of which no tree can be learnt, after which none is looked for.
constexpr int kFruitless = 4;
/// Likelihoods of one walk that differ by a factor less than e to this say nothing.
constexpr double kTie = 2;

/// What it costs to say one of all trees of such nodes, as a logarithm; sides of a node are no different.
double price_of(std::uint32_t ways, std::size_t nodes) { return std::lgamma(ways + 1.0) - static_cast<double>(nodes / 2) * std::log(2); }

double sum(const std::vector<double>& values, std::size_t count) {
    return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size())), 0.0);
}

}  // namespace

Contest::Contest(std::uint32_t ways) : ways_(ways), foreseen_(likelihood_of_victim(1, ways)), unforeseen_(likelihood_of_victim(0, ways)) {
    // With so few ways a policy may be the same machine as one that is simpler to say.
    const auto is_new = [&](std::string_view name) {
        return std::ranges::none_of(contenders_, [&](const Contender& c) { return same_machine(c.candidate.name, name, ways_); });
    };
    for (const auto name : candidate_policies()) {
        if (!is_new(name)) continue;
        contenders_.push_back({.candidate = {.name = std::string(name)}});
        plain_.push_back({name, {}});
        if (ways_ <= kMostOrdered && make_model(name, ways_)->ties()) contenders_.push_back({.candidate = {.name = std::string(name)}, .form = Form::placed});
    }
    if (is_new(kTree)) contenders_.push_back({.candidate = {.name = std::string(kTree)}, .form = Form::tree});
    std::ranges::stable_sort(contenders_, {}, [](const Contender& c) { return c.form; });
}

void Contest::run(const std::vector<Walk>& walks, std::size_t to_come, double accidental) {
    walks_ = &walks;
    to_come_ = to_come;
    accidental_ = accidental;
    for (auto& c : contenders_)
        if (c.form == Form::plain && c.candidate.by_walk.empty()) explain_next(c);
    std::vector<Contender*> in;
    for (auto& c : contenders_)
        if (!c.out) in.push_back(&c);
    std::ranges::stable_sort(in, std::greater<>(), [](const Contender* c) { return std::pair(c->candidate.by_walk.size(), c->candidate.likelihood); });
    const Contender* leader = in.front();
    for (auto* c : in) {
        follow(*c, *leader);
        if (!c->out && c->candidate.likelihood > leader->candidate.likelihood) leader = c;
    }
    rank(*leader);
}

void Contest::follow(Contender& contender, const Contender& leader) {
    while (contender.candidate.by_walk.size() < walks_->size()) {
        if (&contender != &leader && contender.candidate.name != kChance) {
            const std::size_t next = contender.candidate.by_walk.size();
            const double hoped = behind(contender, leader) + leader.candidate.by_walk[next] - most_of_next(contender, leader);
            contender.out = contender.fruitless >= kFruitless || lost(contender, leader, hoped);
            if (contender.out) return;
        }
        explain_next(contender);
    }
}

double Contest::behind(const Contender& contender, const Contender& leader) const {
    return sum(leader.candidate.by_walk, contender.candidate.by_walk.size()) - contender.candidate.likelihood;
}

bool Contest::lost(const Contender& contender, const Contender& leader, double behind) const {
    const auto& of = contender.candidate.by_walk;
    const auto& best = leader.candidate.by_walk;
    // The leader goes on as it did; the other one foresees all.
    const double risk = (sum(leader.most, leader.most.size()) - leader.candidate.likelihood) / static_cast<double>(best.size());
    if (behind > kOut + risk * static_cast<double>(walks_->size() - of.size() + to_come_)) return true;
    if (of.size() < kLostWalks || contender.candidate.share() > 1 - kUnexplains) return false;
    return std::equal(of.begin(), of.end(), best.begin(), [](double a, double b) { return a < b - kTie; });
}

double Contest::most_of_next(const Contender& contender, const Contender& leader) {
    const std::size_t next = contender.candidate.by_walk.size();
    if (contender.form == Form::tree) {
        const auto paid = std::ranges::count((*walks_)[next].episodes, true, &Episode::repeats);
        return leader.most[next] - static_cast<double>(paid) * price_of(ways_, 2 * std::size_t{ways_} - 1);
    }
    if (contender.form == Form::plain) return leader.most[next];
    double most = 0;
    for (const auto& e : plainly(contender.candidate.name, next)) most += e.explained * foreseen_ + (e.victims - e.explained) * unforeseen_;
    return most;
}

const std::vector<Explanation>& Contest::plainly(std::string_view policy, std::size_t walk) {
    auto& known = std::ranges::find(plain_, policy, &Plain::policy)->by_walk;
    known.resize(std::max(known.size(), walk + 1));
    if (known[walk].empty())
        for (const auto& episode : (*walks_)[walk].episodes) known[walk].push_back(explain(episode, ways_, *make_model(policy, ways_), accidental_));
    return known[walk];
}

Contest::Explained Contest::explain_walk(const Contender& contender, std::size_t walk) {
    Explained all;
    const auto& plain = plainly(contender.form == Form::tree ? kChance : std::string_view(contender.candidate.name), walk);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        std::unique_ptr<PolicyModel> model;
        double price = 0;
        if (contender.form == Form::placed) {
            model = make_model(contender.candidate.name, ways_);
            const auto places = learn_places(plain[i].steps, ways_, *model);
            model->prefer(places.of_way);
            price = places.price;
        } else if (contender.form == Form::tree) {
            const auto tree = learn_tree(plain[i].steps, ways_);
            model = make_tree_model(tree);
            price = price_of(ways_, tree.nodes.size());
            all.learnt = all.learnt || tree.nodes.size() > 1;
        }
        const Explanation learnt = model ? explain((*walks_)[walk].episodes[i], ways_, *model, accidental_) : Explanation{};
        const Explanation& explanation = model ? learnt : plain[i];
        // Learnt of the first half, it is tried on the second: where that is the same once more, only its price tells what it is worth.
        all.likelihood += explanation.likelihood - ((*walks_)[walk].episodes[i].repeats ? price : 0);
        all.victims += explanation.victims;
        all.explained += explanation.explained;
    }
    return all;
}

void Contest::explain_next(Contender& contender) {
    auto& candidate = contender.candidate;
    const auto all = explain_walk(contender, candidate.by_walk.size());
    if (contender.form == Form::tree && contender.fruitless == static_cast<int>(candidate.by_walk.size()) && !all.learnt) ++contender.fruitless;
    candidate.by_walk.push_back(all.likelihood);
    candidate.likelihood += all.likelihood;
    candidate.victims += all.victims;
    candidate.explained += all.explained;
    contender.most.push_back(all.victims * foreseen_);
}

void Contest::rank(const Contender& leader) {
    ranking_.clear();
    for (auto& c : contenders_) {
        const auto walks = static_cast<int>(c.candidate.by_walk.size());
        if (walks == 0 || c.fruitless == walks) continue;
        c.candidate.behind = std::max(behind(c, leader), c.out ? kOut : 0);
        const auto other = std::ranges::find(ranking_, c.candidate.name, &Candidate::name);
        if (other == ranking_.end())
            ranking_.push_back(c.candidate);
        else if (c.candidate.behind < other->behind)
            *other = c.candidate;
    }
    std::ranges::stable_sort(ranking_, {}, &Candidate::behind);
}

double Contest::confidence() const {
    const Candidate &best = ranking_[0], &second = ranking_[1];
    const auto& chance = std::ranges::find(ranking_, kChance, &Candidate::name)->by_walk;
    double gained = 0, lost = 0, decisive = 0;
    for (std::size_t i = 0; i < best.by_walk.size(); ++i) {
        // Walks that the runner-up had no part in show that the best one goes on to explain what chance does not.
        const double difference = best.by_walk[i] - (i < second.by_walk.size() ? second.by_walk : chance)[i];
        decisive += std::min(1.0, std::abs(difference) / kTie);
        (difference > 0 ? gained : lost) += std::abs(difference);
    }
    const double won = decisive * gained / std::max(kTie, gained + lost);
    return (best.explained + 1.0) / (best.victims + 2.0) / (1 + std::exp(-second.behind)) * (won + 1) / (decisive + 2);
}

}  // namespace gputomo::deduce::geometry
