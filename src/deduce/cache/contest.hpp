// Candidate policies, which explain one walk through a set after another until they are out of the question.
#pragma once

#include "deduce/cache/cache_model.hpp"
#include "deduce/cache/victims.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::deduce::cache {

/// What the others have to do better than, and the one whose tree has to be learnt.
inline constexpr std::string_view kChance = "random", kTree = "tree-plru";

/// What was recorded of one tour through the lines of a set, walked several times.
struct Walk {
    std::vector<Episode> episodes;
    std::size_t tour = 0;  ///< loads of one lap
};

/// How well a policy explains walks; of those that came after it left the contest, nothing is counted.
struct Candidate {
    std::string name;
    double likelihood = 0;  ///< natural logarithm, less the price of what was learnt of the walks
    int victims = 0, explained = 0;
    std::vector<double> by_walk;  ///< likelihood of each
    double behind = 0;            ///< the best one, in what both were asked to explain
    [[nodiscard]] double share() const { return victims == 0 ? 0 : static_cast<double>(explained) / victims; }
};

/// Every policy of candidate_policies(), tree-PLRU, and chance as what the others have to do better than. A candidate
/// explains no more walks once it is so far behind the leader that those to come cannot make up for it, and what has to
/// be learnt of a walk is learnt only where that may make a difference.
class Contest {
public:
    explicit Contest(std::uint32_t ways);
    /// All walks so far, to which `to_come` more may be added. `accidental`: share of hits that read like misses.
    void run(const std::vector<Walk>& walks, std::size_t to_come, double accidental);
    /// One for each policy that explained a walk; the best one first, then the less it is behind.
    [[nodiscard]] const std::vector<Candidate>& ranking() const { return ranking_; }
    /// Whether more walks may show a tree: it is not out, and something was learnt, or no walk had victims enough.
    [[nodiscard]] bool may_be_tree() const;
    /// That the best one is right: how much of the walks it explains, how much worse the runner-up is, and in how many
    /// of the walks that is worse: a model that is a little off may win by a large likelihood, but hardly in every
    /// order of the lines.
    [[nodiscard]] double confidence() const;

private:
    /// As the policy is; with an order of the ways that tie, learnt of each walk; or with the tree of the ways, learnt
    /// too.
    enum class Form { plain, placed, tree };
    struct Contender {
        Candidate candidate;
        Form form = Form::plain;
        std::vector<double> most;  ///< by walk: likelihood if it foresaw every victim
        bool out = false;
        int fruitless = 0;    ///< walks of which nothing was learnt
        int in_a_row = 0;     ///< of those the last ones that were as long
        bool enough = false;  ///< one of the walks had victims for any tree
    };
    struct Explained {
        double likelihood = 0;
        int victims = 0, explained = 0;
        bool learnt = false;
    };
    [[nodiscard]] const std::vector<Explanation>& plainly(std::string_view policy, std::size_t walk);
    [[nodiscard]] Explained explain_walk(const Contender& contender, std::size_t walk);
    /// Whether no tree was learnt of several walks as long as this one.
    [[nodiscard]] bool fruitless(const Contender& contender, std::size_t walk) const;
    /// Learnt of the first half.
    [[nodiscard]] WayTree tree_of(const Episode& episode, const std::vector<Step>& steps) const;
    [[nodiscard]] std::size_t loads_of(std::size_t walk) const;
    void explain_next(Contender& contender);
    [[nodiscard]] double most_of_next(const Contender& contender, const Contender& leader);
    [[nodiscard]] double behind(const Contender& contender, const Contender& leader) const;
    [[nodiscard]] bool lost(const Contender& contender, const Contender& leader, double behind) const;
    void follow(Contender& contender, const Contender& leader);
    void rank(const Contender& leader);

    std::uint32_t ways_;
    double foreseen_, unforeseen_;  ///< likelihoods of one victim
    const std::vector<Walk>* walks_ = nullptr;
    std::size_t to_come_ = 0;
    double accidental_ = 0;
    std::vector<Contender> contenders_;
    struct Plain {
        std::string_view policy;
        std::vector<std::vector<Explanation>> by_walk;
    };
    std::vector<Plain> plain_;
    std::vector<Candidate> ranking_;
};

}  // namespace gputomo::deduce::cache
