// Selects the replacement policy: candidates explain one run after another until they can no longer be the best.
#pragma once

#include "deduce/cache/policy/eviction_trace.hpp"
#include "deduce/cache/policy/policy_model.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::deduce::cache {

/// Chance is what every other policy has to explain better. A tree-PLRU has to have its tree learnt first.
inline constexpr std::string_view kChance = "random", kTree = "tree-plru";

/// How well a policy explains runs. Runs that followed its rejection are not counted.
struct PolicyScore {
    std::string name;
    double likelihood = 0;  ///< natural logarithm, minus the cost of what was learnt from the runs
    int victims = 0, explained = 0;
    std::vector<double> by_run;  ///< likelihood of each run
    double deficit = 0;          ///< log likelihood that it lacks to the best policy in the runs that both explained
    [[nodiscard]] double share() const { return victims == 0 ? 0 : static_cast<double>(explained) / victims; }
};

/// Compares candidate_policies() and tree-PLRU. A policy explains no further runs once it is so far behind the leader
/// that the runs to come cannot make up for it. What has to be learnt from a run is learnt only where it can matter.
class PolicySelection {
public:
    explicit PolicySelection(std::uint32_t ways);
    /// `runs`: all runs so far, those of earlier calls first. Up to `runs_left` more runs will follow. `outlier_rate`:
    /// share of hits that read like misses.
    void update(const std::vector<PolicyRun>& runs, std::size_t runs_left, double outlier_rate);
    /// One score for each policy that explained a run, by rising deficit.
    [[nodiscard]] const std::vector<PolicyScore>& ranking() const { return ranking_; }
    /// Whether further runs may show a tree: it is not rejected, and either part of one was learnt or no run had
    /// victims enough to learn it from.
    [[nodiscard]] bool may_be_tree() const;
    /// Probability that the best policy is right. It follows from the share of victims that it explains, its lead over
    /// the runner-up, and the number of runs that it leads. A model that is slightly wrong may win by a large
    /// likelihood, but hardly in every order of the lines.
    [[nodiscard]] double confidence() const;

private:
    /// The policy alone; with an order of the ways that tie, learnt from each run; with a tree learnt from each run.
    enum class Form { plain, way_order, tree };
    struct Hypothesis {
        PolicyScore score;
        Form form = Form::plain;
        std::vector<double> best_possible;  ///< by run: likelihood if it predicted every victim
        bool out = false;
        int without_tree = 0;         ///< runs from which no tree was learnt
        int recent_without_tree = 0;  ///< the last ones of them that are of about the same length
        bool saw_enough = false;      ///< one run had victims enough to learn any tree from
    };
    struct RunExplanation {
        double likelihood = 0;
        int victims = 0, explained = 0;
        bool learnt = false;
    };
    /// Explanations of a run's segments by the policy alone; made once.
    [[nodiscard]] const std::vector<Explanation>& explained_by(std::string_view policy, std::size_t run);
    [[nodiscard]] RunExplanation explain_run(const Hypothesis& hypothesis, std::size_t run);
    /// Whether no tree was learnt from several runs about as long as this one.
    [[nodiscard]] bool without_tree(const Hypothesis& hypothesis, std::size_t run) const;
    /// Learnt from the first half of the segment.
    [[nodiscard]] WayTree tree_of(const TraceSegment& segment, const std::vector<Step>& steps) const;
    [[nodiscard]] std::size_t loads_of(std::size_t run) const;
    void explain_next(Hypothesis& hypothesis);
    /// Largest likelihood that the next run can give to the hypothesis.
    [[nodiscard]] double best_possible_next(const Hypothesis& hypothesis, const Hypothesis& leader);
    [[nodiscard]] double deficit(const Hypothesis& hypothesis, const Hypothesis& leader) const;
    [[nodiscard]] bool rejected(const Hypothesis& hypothesis, const Hypothesis& leader, double deficit) const;
    /// Explains the runs that the hypothesis has not explained yet, until it is rejected.
    void catch_up(Hypothesis& hypothesis, const Hypothesis& leader);
    void rank(const Hypothesis& leader);

    std::uint32_t ways_;
    double predicted_, unpredicted_;  ///< log likelihoods of one victim
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
