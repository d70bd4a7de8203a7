// Candidate policies, which explain one walk through a set after another until they are out of the question.
#pragma once

#include "deduce/cache/eviction_trace.hpp"
#include "deduce/cache/policy_model.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::deduce::cache {

/// What the others have to do better than, and the one whose tree has to be learnt.
inline constexpr std::string_view kChance = "random", kTree = "tree-plru";

/// What was recorded of one tour through the lines of a set, walked several times.
struct PolicyRun {
    std::vector<TraceSegment> segments;
    std::size_t sequence = 0;  ///< loads of one pass
};

/// How well a policy explains walks; of those that came after it left the contest, nothing is counted.
struct PolicyScore {
    std::string name;
    double likelihood = 0;  ///< natural logarithm, less the cost of what was learnt of the runs
    int victims = 0, explained = 0;
    std::vector<double> by_run;  ///< likelihood of each
    double deficit = 0;          ///< the best one, in what both were asked to explain
    [[nodiscard]] double share() const { return victims == 0 ? 0 : static_cast<double>(explained) / victims; }
};

/// Every policy of candidate_policies(), tree-PLRU, and chance as what the others have to do better than. A candidate
/// explains no more walks once it is so far behind the leader that those to come cannot make up for it, and what has to
/// be learnt of a walk is learnt only where that may make a difference.
class PolicySelection {
public:
    explicit PolicySelection(std::uint32_t ways);
    /// All walks so far, to which `to_come` more may be added. `accidental`: share of hits that read like misses.
    void update(const std::vector<PolicyRun>& runs, std::size_t runs_left, double outlier_rate);
    /// One for each policy that explained a walk; the best one first, then the less it is behind.
    [[nodiscard]] const std::vector<PolicyScore>& ranking() const { return ranking_; }
    /// Whether more walks may show a tree: it is not out, and something was learnt, or no walk had victims enough.
    [[nodiscard]] bool may_be_tree() const;
    /// That the best one is right: how much of the walks it explains, how much worse the runner-up is, and in how many
    /// of the walks that is worse: a model that is a little off may win by a large likelihood, but hardly in every
    /// order of the lines.
    [[nodiscard]] double confidence() const;

private:
    /// As the policy is; with an order of the ways that tie, learnt of each walk; or with the tree of the ways, learnt
    /// too.
    enum class Form { plain, way_order, tree };
    struct Hypothesis {
        PolicyScore score;
        Form form = Form::plain;
        std::vector<double> best_possible;  ///< by run: likelihood if it foresaw every victim
        bool out = false;
        int without_tree = 0;         ///< runs of which nothing was learnt
        int recent_without_tree = 0;  ///< of those the last ones that were as long
        bool saw_enough = false;      ///< one of the runs had victims for any tree
    };
    struct RunExplanation {
        double likelihood = 0;
        int victims = 0, explained = 0;
        bool learnt = false;
    };
    [[nodiscard]] const std::vector<Explanation>& explained_by(std::string_view policy, std::size_t run);
    [[nodiscard]] RunExplanation explain_run(const Hypothesis& hypothesis, std::size_t run);
    /// Whether no tree was learnt of several walks as long as this one.
    [[nodiscard]] bool without_tree(const Hypothesis& hypothesis, std::size_t run) const;
    /// Learnt of the first half.
    [[nodiscard]] WayTree tree_of(const TraceSegment& segment, const std::vector<Step>& steps) const;
    [[nodiscard]] std::size_t loads_of(std::size_t run) const;
    void explain_next(Hypothesis& hypothesis);
    [[nodiscard]] double best_possible_next(const Hypothesis& hypothesis, const Hypothesis& leader);
    [[nodiscard]] double deficit(const Hypothesis& hypothesis, const Hypothesis& leader) const;
    [[nodiscard]] bool rejected(const Hypothesis& hypothesis, const Hypothesis& leader, double deficit) const;
    void catch_up(Hypothesis& hypothesis, const Hypothesis& leader);
    void rank(const Hypothesis& leader);

    std::uint32_t ways_;
    double predicted_, unpredicted_;  ///< likelihoods of one victim
    const std::vector<PolicyRun>* runs_ = nullptr;
    std::size_t runs_left_ = 0;
    double outlier_rate_ = 0;
    std::vector<Hypothesis> hypotheses_;
    struct PlainExplanations {
        std::string_view policy;
        std::vector<std::vector<Explanation>> by_run;
    };
    std::vector<PlainExplanations> plain_explanations_;
    std::vector<PolicyScore> ranking_;
};

}  // namespace gputomo::deduce::cache
