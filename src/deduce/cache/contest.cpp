#include "deduce/cache/contest.hpp"

#include "deduce/cache/way_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gputomo::deduce::cache {
namespace {

/// Ways whose order is looked into.
constexpr std::uint32_t kMostOrdered = 256;
/// Behind the leader by such a factor, as a logarithm, besides what the leader may lose in walks to come: no more
/// walks.
const double kOut = 3 * std::log(50.0);
/// A candidate that lost each of so many walks and leaves this much unexplained: none either.
constexpr std::size_t kLostWalks = 3;
constexpr double kUnexplains = 0.2;
/// Walks of which no tree can be learnt, after which none is looked for in others but those that are longer by such a
/// factor.
constexpr int kFruitless = 4;
constexpr double kLonger = 1.5;
/// Times that a walk is read by the tree that was learnt of it, to learn it better.
constexpr int kReadAgain = 5;
/// Likelihoods of one walk that differ by a factor less than e to this say nothing.
constexpr double kTie = 2;

/// What it costs to say one of all trees of such nodes, as a logarithm; sides of a node are no different.
double price_of(std::uint32_t ways, std::size_t nodes) {
    return std::lgamma(ways + 1.0) - static_cast<double>(nodes / 2) * std::log(2);
}

bool longer(std::size_t loads, std::size_t than) {
    return static_cast<double>(loads) > kLonger * static_cast<double>(than);
}

/// Victims that are enough for any tree to be learnt of them.
double most_victims(std::uint32_t ways) { return 2 * ways * std::log(ways); }

bool same(const WayTree& a, const WayTree& b) {
    return std::ranges::equal(a.nodes, b.nodes, {}, &WayTree::Node::ways, &WayTree::Node::ways);
}

double sum(const std::vector<double>& values, std::size_t count) {
    return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size())),
                           0.0);
}

}  // namespace

Contest::Contest(std::uint32_t ways)
    : ways_(ways), foreseen_(likelihood_of_victim(1, ways)), unforeseen_(likelihood_of_victim(0, ways)) {
    // With so few ways a policy may be the same machine as one that is simpler to say.
    const auto is_new = [&](std::string_view name) {
        return std::ranges::none_of(contenders_,
                                    [&](const Contender& c) { return same_machine(c.candidate.name, name, ways_); });
    };
    for (const auto name : candidate_policies()) {
        if (!is_new(name)) continue;
        contenders_.push_back({.candidate = {.name = std::string(name)}});
        plain_.push_back({name, {}});
        if (ways_ <= kMostOrdered && make_model(name, ways_)->ties())
            contenders_.push_back({.candidate = {.name = std::string(name)}, .form = Form::placed});
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
    std::ranges::stable_sort(in, std::greater<>(), [](const Contender* c) {
        return std::pair(c->candidate.by_walk.size(), c->candidate.likelihood);
    });
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
            const double hoped =
                behind(contender, leader) + leader.candidate.by_walk[next] - most_of_next(contender, leader);
            contender.out = lost(contender, leader, hoped);
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
    const double risk =
        (sum(leader.most, leader.most.size()) - leader.candidate.likelihood) / static_cast<double>(best.size());
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
    for (const auto& e : plainly(contender.candidate.name, next))
        most += e.explained * foreseen_ + (e.victims - e.explained) * unforeseen_;
    return most;
}

const std::vector<Explanation>& Contest::plainly(std::string_view policy, std::size_t walk) {
    auto& known = std::ranges::find(plain_, policy, &Plain::policy)->by_walk;
    known.resize(std::max(known.size(), walk + 1));
    if (known[walk].empty())
        for (const auto& episode : (*walks_)[walk].episodes)
            known[walk].push_back(explain(episode, ways_, *make_model(policy, ways_), accidental_));
    return known[walk];
}

Contest::Explained Contest::explain_walk(const Contender& contender, std::size_t walk) {
    Explained all;
    const auto& plain =
        plainly(contender.form == Form::tree ? kChance : std::string_view(contender.candidate.name), walk);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        std::unique_ptr<PolicyModel> model;
        double price = 0;
        if (contender.form == Form::placed) {
            model = make_model(contender.candidate.name, ways_);
            const auto places = learn_places(plain[i].steps, ways_, *model);
            model->prefer(places.of_way);
            price = places.price;
        } else if (contender.form == Form::tree && !fruitless(contender, walk)) {
            const auto tree = tree_of((*walks_)[walk].episodes[i], plain[i].steps);
            model = make_tree_model(tree);
            price = price_of(ways_, tree.nodes.size());
            all.learnt = all.learnt || tree.nodes.size() > 1;
        }
        Explanation learnt = model ? explain((*walks_)[walk].episodes[i], ways_, *model, accidental_) : Explanation{};
        if (contender.form == Form::tree && model) {
            // A tree is rarely learnt to the last way, and what it is wrong about are no accidents.
            auto roughly = explain_roughly((*walks_)[walk].episodes[i], ways_, *model, accidental_);
            if (roughly.likelihood > learnt.likelihood) learnt = std::move(roughly);
        }
        const Explanation& explanation = model ? learnt : plain[i];
        // Learnt of the first half, it is tried on the second: where that is the same once more, only its price tells
        // what it is worth.
        all.likelihood += explanation.likelihood - ((*walks_)[walk].episodes[i].repeats ? price : 0);
        all.victims += explanation.victims;
        all.explained += explanation.explained;
    }
    return all;
}

WayTree Contest::tree_of(const Episode& episode, const std::vector<Step>& steps) const {
    // Of what repeats itself, either half shows the same, and what comes before has accidents.
    const std::size_t from = episode.repeats ? episode.clean : 0, end = from + (episode.lines.size() - from) / 2;
    // Read by chance, a slow load may as well have been an accident, and where it is taken for the other, two ways have
    // changed places from then on: less of the walk is better at first.
    double victims = 0;
    const auto enough = std::ranges::find_if(
        steps, [&](const Step& step) { return step.load >= from && step.evicted && ++victims >= most_victims(ways_); });
    auto tree = learn_tree(steps, from, enough == steps.end() ? end : std::min(end, enough->load), ways_);
    for (int again = 0; again < kReadAgain && tree.nodes.size() > 1; ++again) {
        auto better =
            learn_tree(explain_roughly(episode, ways_, *make_tree_model(tree), accidental_).steps, from, end, ways_);
        if (better.nodes.size() < tree.nodes.size() || same(better, tree)) break;
        tree = std::move(better);
    }
    return tree;
}

std::size_t Contest::loads_of(std::size_t walk) const {
    std::size_t loads = 0;
    for (const auto& episode : (*walks_)[walk].episodes) loads += episode.lines.size();
    return loads;
}

bool Contest::fruitless(const Contender& contender, std::size_t walk) const {
    return contender.in_a_row >= kFruitless && !longer(loads_of(walk), loads_of(walk - 1));
}

bool Contest::may_be_tree() const {
    const auto tree = std::ranges::find(contenders_, Form::tree, &Contender::form);
    return tree != contenders_.end() && !tree->out &&
           (!tree->enough || tree->fruitless < static_cast<int>(tree->candidate.by_walk.size()));
}

void Contest::explain_next(Contender& contender) {
    auto& candidate = contender.candidate;
    const auto all = explain_walk(contender, candidate.by_walk.size());
    if (contender.form == Form::tree) {
        const std::size_t walk = candidate.by_walk.size();
        if (walk == 0 || longer(loads_of(walk), loads_of(walk - 1)) || all.learnt) contender.in_a_row = 0;
        contender.in_a_row += all.learnt ? 0 : 1;
        contender.fruitless += all.learnt ? 0 : 1;
        contender.enough = contender.enough || all.victims >= most_victims(ways_);
    }
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

}  // namespace gputomo::deduce::cache
