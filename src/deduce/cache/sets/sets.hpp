// How many lines each set holds, and whether the geometry predicts the hits and misses of lines not used to find it.
#pragma once

#include "deduce/cache/sets/index.hpp"

namespace gputomo::deduce::cache {

struct SetWays {
    std::vector<std::uint64_t> ways;  ///< by set; empty: the sets are unequal and too many to measure
    bool every_set = false;           ///< all sets were tested; false: a sample, which was equal
};

/// Fills sets with `expected` lines and with one more, many sets at once. Sets that do not behave as expected are
/// measured one by one.
[[nodiscard]] SetWays find_set_ways(const Probe& probe, const Index& index, std::uint64_t expected);

/// Outcome of predictions about unseen groups of lines.
struct Trials {
    int agreed = 0;
    int made = 0;
    /// Sets that turned out to hold more lines than their measurement had found, plus groups of unequal sets that did
    /// not become resident in time.
    int doubts = 0;
    /// More than a third of at least 24 predictions was wrong.
    [[nodiscard]] bool hopeless() const { return made >= 24 && 3 * agreed < 2 * made; }
    /// Probability that a further prediction is right, by Laplace's rule.
    [[nodiscard]] double share() const { return made == 0 ? 0 : (agreed + 1.0) / (made + 2.0); }
    /// Probability that the ways of all sets are right. With a doubt about one set, others that were tried less may be
    /// wrong too.
    [[nodiscard]] double confidence() const { return share() * (doubts > 0 ? 0.9 : 1); }
};

/// Predicts whether random groups of lines of random sets are resident together. A group has as many lines as its set
/// has ways or one more, each at a random word. A set that holds more lines than predicted is measured again, which
/// changes `ways`.
[[nodiscard]] Trials predict_groups(const Probe& probe, const Index& index, std::vector<std::uint64_t>& ways);
/// As predict_groups(), with a group of each set in every access sequence. An upper level has then evicted a line when
/// the sequence returns to it, without filler lines. Makes no trials if that takes too many lines.
[[nodiscard]] Trials predict_groups_of_all_sets(const Probe& probe, const Index& index, std::uint64_t ways);

}  // namespace gputomo::deduce::cache
