// Sets of any number and size, read off arrays that grow by a line at a time (Mei 2014, 3.2, step 3, and Fig. 11).
//
// Past the capacity, each further line makes the set overflow in which it lies. With LRU, all of the set's lines
// miss from then on, and only they: the lines that begin to miss together are a set, one more than it has ways. Other
// policies keep some of them, so that sets seem to fall apart, predictions fail, and nothing is said. Nothing is
// assumed of how lines are dealt to sets, and tours are whole arrays, so that this also works where a nearer level
// hides lookups that are not far apart.
#pragma once

#include "deduce/cache/probe.hpp"
#include "deduce/cache/sets.hpp"

#include <optional>
#include <string>

namespace gputomo::deduce::cache {

struct GrownSets {
    std::vector<Offsets> sets;  ///< largest first; of each, one line more than it has ways
    Trials trials;              ///< of arrays from which lines of some sets were left out
    [[nodiscard]] std::vector<std::uint64_t> ways() const;
    /// Lines of all sets but the first, as many as stay.
    [[nodiscard]] Offsets filler() const;
};
struct GrowingArraysResult {
    std::optional<GrownSets> found;
    std::string why;  ///< what speaks against such sets
};

/// `line`: bytes of a line; `fitting`: bytes of the largest array that stays.
[[nodiscard]] GrowingArraysResult find_sets_by_growing_arrays(const Probe& probe, std::uint64_t line,
                                                              std::uint64_t fitting);

}  // namespace gputomo::deduce::cache
