// How many lines each set holds, and whether the whole picture predicts what was not used to draw it.
#pragma once

#include "deduce/cache/index.hpp"

namespace gputomo::deduce::cache {

struct SetWays {
    std::vector<std::uint64_t> ways;  ///< by set; empty: unequal and too many to measure
    bool every_set = false;           ///< looked at all of them, not at a sample that is equal
};

/// Each set is filled with `expected` lines and one more, all at once; those that behave otherwise are measured one by
/// one.
[[nodiscard]] SetWays find_set_ways(const Probe& probe, const Index& index, std::uint64_t expected);

struct Trials {
    int agreed = 0;
    int made = 0;
    int doubts = 0;  ///< sets that hold more lines than was found when each was measured; of unequal ones, groups that
                     ///< do not come to stay in time
    /// More than a third of many was wrong.
    [[nodiscard]] bool hopeless() const { return made >= 24 && 3 * agreed < 2 * made; }
    /// Probability that a further prediction is right, by Laplace's rule.
    [[nodiscard]] double share() const { return made == 0 ? 0 : (agreed + 1.0) / (made + 2.0); }
    /// That the ways of all sets are right: where one was not, or lines come to stay too late to be seen, others may be
    /// wrong that were tried less.
    [[nodiscard]] double confidence() const { return share() * (doubts > 0 ? 0.9 : 1); }
};

/// Random groups of lines of random sets, as many as a set holds or one more, each at a random word of its line: do
/// those stay that should, and no others? A set that holds more than predicted is measured again.
[[nodiscard]] Trials predict_groups(const Probe& probe, const Index& index, std::vector<std::uint64_t>& ways);
/// The same with a group of each set in every tour, so that a nearer level has forgotten an entry when the tour comes
/// back to it and nothing has to come in between. None where that takes too many lines.
[[nodiscard]] Trials predict_groups_of_all_sets(const Probe& probe, const Index& index, std::uint64_t ways);

}  // namespace gputomo::deduce::cache
