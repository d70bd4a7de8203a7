#include "deduce/cache/policy/policy_selection.hpp"

#include "deduce/cache/policy/way_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gputomo::deduce::cache {
namespace {

/// The order of tied ways is learnt up to this number of ways: it takes memory and time in the square of the ways.
constexpr std::uint32_t kMaxOrdered = 256;
/// A candidate this far behind the leader in log likelihood is rejected, with a margin for what the leader may lose in
/// the runs to come.
const double kRejectDeficit = 3 * std::log(50.0);
/// A candidate is also rejected if it lost each of at least `kMinRunsToReject` runs and leaves more than
/// `kMaxUnexplained` of the victims unexplained.
constexpr std::size_t kMinRunsToReject = 3;
constexpr double kMaxUnexplained = 0.2;
/// After `kRunsWithoutTree` runs from which no tree could be learnt, only runs that are longer by a factor of
/// `kLongerRun` are searched for one.
constexpr int kRunsWithoutTree = 4;
constexpr double kLongerRun = 1.5;
/// A run is interpreted with the tree learnt from it, and the tree learnt again, up to this many times.
constexpr int kTreeRefinements = 5;
/// Log likelihoods of one run that differ by less than this are a tie.
constexpr double kTie = 2;

/// Natural logarithm of the number of trees with these nodes. The two sides of a node are equivalent.
double tree_cost(std::uint32_t ways, std::size_t nodes) {
    const std::size_t pairs = nodes / 2;
    return std::lgamma(ways + 1.0) - static_cast<double>(pairs) * std::log(2);
}

bool longer(std::size_t loads, std::size_t than) {
    return static_cast<double>(loads) > kLongerRun * static_cast<double>(than);
}

/// Number of victims from which any tree can be learnt.
double most_victims(std::uint32_t ways) { return 2 * ways * std::log(ways); }

bool same(const WayTree& a, const WayTree& b) {
    return std::ranges::equal(a.nodes, b.nodes, {}, &WayTree::Node::ways, &WayTree::Node::ways);
}

double sum(const std::vector<double>& values, std::size_t count) {
    return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size())),
                           0.0);
}

}  // namespace

PolicySelection::PolicySelection(std::uint32_t ways)
    : ways_(ways), predicted_(likelihood_of_victim(1, ways)), unpredicted_(likelihood_of_victim(0, ways)) {
    // Sets of few ways may behave the same under several policies; only the first one is a candidate.
    const auto is_new = [&](std::string_view name) {
        return std::ranges::none_of(
            hypotheses_, [&](const Hypothesis& c) { return equivalent_policies(c.score.name, name, ways_); });
    };
    for (const auto name : candidate_policies()) {
        if (!is_new(name)) continue;
        hypotheses_.push_back({.score = {.name = std::string(name)}});
        plain_explanations_.push_back({name, {}});
        if (ways_ <= kMaxOrdered && make_model(name, ways_)->ties())
            hypotheses_.push_back({.score = {.name = std::string(name)}, .form = Form::way_order});
    }
    if (is_new(kTree)) hypotheses_.push_back({.score = {.name = std::string(kTree)}, .form = Form::tree});
    std::ranges::stable_sort(hypotheses_, {}, [](const Hypothesis& c) { return c.form; });
}

void PolicySelection::update(const std::vector<PolicyRun>& runs, std::size_t runs_left, double outlier_rate) {
    runs_ = &runs;
    runs_left_ = runs_left;
    outlier_rate_ = outlier_rate;
    for (auto& c : hypotheses_)
        if (c.form == Form::plain && c.score.by_run.empty()) explain_next(c);
    std::vector<Hypothesis*> in;
    for (auto& c : hypotheses_)
        if (!c.out) in.push_back(&c);
    std::ranges::stable_sort(in, std::greater<>(), [](const Hypothesis* c) {
        return std::pair(c->score.by_run.size(), c->score.likelihood);
    });
    const Hypothesis* leader = in.front();
    for (auto* c : in) {
        catch_up(*c, *leader);
        if (!c->out && c->score.likelihood > leader->score.likelihood) leader = c;
    }
    rank(*leader);
}

void PolicySelection::catch_up(Hypothesis& hypothesis, const Hypothesis& leader) {
    while (hypothesis.score.by_run.size() < runs_->size()) {
        if (&hypothesis != &leader && hypothesis.score.name != kChance) {
            const std::size_t next = hypothesis.score.by_run.size();
            const double hoped =
                deficit(hypothesis, leader) + leader.score.by_run[next] - best_possible_next(hypothesis, leader);
            hypothesis.out = rejected(hypothesis, leader, hoped);
            if (hypothesis.out) return;
        }
        explain_next(hypothesis);
    }
}

double PolicySelection::deficit(const Hypothesis& hypothesis, const Hypothesis& leader) const {
    return sum(leader.score.by_run, hypothesis.score.by_run.size()) - hypothesis.score.likelihood;
}

bool PolicySelection::rejected(const Hypothesis& hypothesis, const Hypothesis& leader, double deficit) const {
    const auto& of = hypothesis.score.by_run;
    const auto& best = leader.score.by_run;
    // The leader continues as before, and the other one predicts every victim.
    const double risk = (sum(leader.best_possible, leader.best_possible.size()) - leader.score.likelihood) /
                        static_cast<double>(best.size());
    if (deficit > kRejectDeficit + risk * static_cast<double>(runs_->size() - of.size() + runs_left_)) return true;
    if (of.size() < kMinRunsToReject || hypothesis.score.share() > 1 - kMaxUnexplained) return false;
    return std::equal(of.begin(), of.end(), best.begin(), [](double a, double b) { return a < b - kTie; });
}

double PolicySelection::best_possible_next(const Hypothesis& hypothesis, const Hypothesis& leader) {
    const std::size_t next = hypothesis.score.by_run.size();
    if (hypothesis.form == Form::tree) {
        const auto paid = std::ranges::count((*runs_)[next].segments, true, &TraceSegment::periodic);
        return leader.best_possible[next] - static_cast<double>(paid) * tree_cost(ways_, 2 * std::size_t{ways_} - 1);
    }
    if (hypothesis.form == Form::plain) return leader.best_possible[next];
    double most = 0;
    for (const auto& e : explained_by(hypothesis.score.name, next))
        most += e.explained * predicted_ + (e.victims - e.explained) * unpredicted_;
    return most;
}

const std::vector<Explanation>& PolicySelection::explained_by(std::string_view policy, std::size_t run) {
    auto& known = std::ranges::find(plain_explanations_, policy, &PlainExplanations::policy)->by_run;
    known.resize(std::max(known.size(), run + 1));
    if (known[run].empty())
        for (const auto& segment : (*runs_)[run].segments)
            known[run].push_back(explain(segment, ways_, *make_model(policy, ways_), outlier_rate_));
    return known[run];
}

PolicySelection::RunExplanation PolicySelection::explain_run(const Hypothesis& hypothesis, std::size_t run) {
    RunExplanation all;
    const auto& plain =
        explained_by(hypothesis.form == Form::tree ? kChance : std::string_view(hypothesis.score.name), run);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        std::unique_ptr<PolicyModel> model;
        double cost = 0;
        if (hypothesis.form == Form::way_order) {
            model = make_model(hypothesis.score.name, ways_);
            const auto order = learn_way_order(plain[i].steps, ways_, *model);
            model->set_way_order(order.place_of_way);
            cost = order.cost;
        } else if (hypothesis.form == Form::tree && !without_tree(hypothesis, run)) {
            const auto tree = tree_of((*runs_)[run].segments[i], plain[i].steps);
            model = make_tree_model(tree);
            cost = tree_cost(ways_, tree.nodes.size());
            all.learnt = all.learnt || tree.nodes.size() > 1;
        }
        Explanation learnt = model ? explain((*runs_)[run].segments[i], ways_, *model, outlier_rate_) : Explanation{};
        if (hypothesis.form == Form::tree && model) {
            // A tree is rarely learnt to the last way, and victims that it predicts wrongly are no outliers.
            auto partial = explain_with_partial_model((*runs_)[run].segments[i], ways_, *model, outlier_rate_);
            if (partial.likelihood > learnt.likelihood) learnt = std::move(partial);
        }
        const Explanation& explanation = model ? learnt : plain[i];
        // What was learnt from the first half is tested on the second. If both halves are the same, only the cost of
        // the tree tells its worth.
        all.likelihood += explanation.likelihood - ((*runs_)[run].segments[i].periodic ? cost : 0);
        all.victims += explanation.victims;
        all.explained += explanation.explained;
    }
    return all;
}

WayTree PolicySelection::tree_of(const TraceSegment& segment, const std::vector<Step>& steps) const {
    // In a periodic segment either half shows the same, and what precedes the period has outliers.
    const std::size_t from = segment.periodic ? segment.periodic_from : 0,
                      end = from + (segment.lines.size() - from) / 2;
    // Without a policy, steps may take an outlier for a miss, which exchanges two ways in all later steps. The first
    // tree is therefore learnt from the first few victims only.
    double victims = 0;
    const auto saw_enough = std::ranges::find_if(
        steps, [&](const Step& step) { return step.load >= from && step.evicted && ++victims >= most_victims(ways_); });
    auto tree = learn_tree(steps, from, saw_enough == steps.end() ? end : std::min(end, saw_enough->load), ways_);
    for (int again = 0; again < kTreeRefinements && tree.nodes.size() > 1; ++again) {
        auto better = learn_tree(
            explain_with_partial_model(segment, ways_, *make_tree_model(tree), outlier_rate_).steps, from, end, ways_);
        if (better.nodes.size() < tree.nodes.size() || same(better, tree)) break;
        tree = std::move(better);
    }
    return tree;
}

std::size_t PolicySelection::loads_of(std::size_t run) const {
    std::size_t loads = 0;
    for (const auto& segment : (*runs_)[run].segments) loads += segment.lines.size();
    return loads;
}

bool PolicySelection::without_tree(const Hypothesis& hypothesis, std::size_t run) const {
    return hypothesis.recent_without_tree >= kRunsWithoutTree && !longer(loads_of(run), loads_of(run - 1));
}

bool PolicySelection::may_be_tree() const {
    const auto tree = std::ranges::find(hypotheses_, Form::tree, &Hypothesis::form);
    return tree != hypotheses_.end() && !tree->out &&
           (!tree->saw_enough || tree->without_tree < static_cast<int>(tree->score.by_run.size()));
}

void PolicySelection::explain_next(Hypothesis& hypothesis) {
    auto& score = hypothesis.score;
    const auto all = explain_run(hypothesis, score.by_run.size());
    if (hypothesis.form == Form::tree) {
        const std::size_t run = score.by_run.size();
        if (run == 0 || longer(loads_of(run), loads_of(run - 1)) || all.learnt) hypothesis.recent_without_tree = 0;
        hypothesis.recent_without_tree += all.learnt ? 0 : 1;
        hypothesis.without_tree += all.learnt ? 0 : 1;
        hypothesis.saw_enough = hypothesis.saw_enough || all.victims >= most_victims(ways_);
    }
    score.by_run.push_back(all.likelihood);
    score.likelihood += all.likelihood;
    score.victims += all.victims;
    score.explained += all.explained;
    hypothesis.best_possible.push_back(all.victims * predicted_);
}

void PolicySelection::rank(const Hypothesis& leader) {
    ranking_.clear();
    for (auto& c : hypotheses_) {
        const auto runs = static_cast<int>(c.score.by_run.size());
        if (runs == 0 || c.without_tree == runs) continue;
        c.score.deficit = std::max(deficit(c, leader), c.out ? kRejectDeficit : 0);
        const auto other = std::ranges::find(ranking_, c.score.name, &PolicyScore::name);
        if (other == ranking_.end())
            ranking_.push_back(c.score);
        else if (c.score.deficit < other->deficit)
            *other = c.score;
    }
    std::ranges::stable_sort(ranking_, {}, &PolicyScore::deficit);
}

double PolicySelection::confidence() const {
    const PolicyScore &best = ranking_[0], &second = ranking_[1];
    const auto& chance = std::ranges::find(ranking_, kChance, &PolicyScore::name)->by_run;
    double gained = 0, lost = 0, decisive = 0;
    for (std::size_t i = 0; i < best.by_run.size(); ++i) {
        // Runs that the runner-up did not explain count as well: there the best policy goes on to explain what chance
        // does not.
        const double difference = best.by_run[i] - (i < second.by_run.size() ? second.by_run : chance)[i];
        decisive += std::min(1.0, std::abs(difference) / kTie);
        (difference > 0 ? gained : lost) += std::abs(difference);
    }
    const double won = decisive * gained / std::max(kTie, gained + lost);
    return (best.explained + 1.0) / (best.victims + 2.0) / (1 + std::exp(-second.deficit)) * (won + 1) / (decisive + 2);
}

}  // namespace gputomo::deduce::cache
