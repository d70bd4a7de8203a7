// Sets of any number and size, found with arrays that grow by one line at a time (Mei 2014, 3.2, step 3, and Fig. 11).
//
// Beyond the capacity, each further line makes the set overflow that it belongs to. Under LRU, all lines of that set
// miss from then on and no others. Lines that begin to miss together are one set, with one line more than its ways.
// Under other policies some of them stay resident; then sets seem to fall apart, predictions fail, and no sets are
// reported. Nothing is assumed about the index. Access sequences are whole arrays, so that the method also works where
// an upper level filters lookups of nearby lines.
#pragma once

#include "deduce/cache/chase/probe.hpp"
#include "deduce/cache/sets/sets.hpp"

#include <optional>
#include <string>

namespace gputomo::deduce::cache {

struct GrownSets {
    std::vector<Offsets> sets;  ///< largest first; the lines of each, one more than its ways
    Trials trials;              ///< predictions about arrays that lack one line of some sets
    [[nodiscard]] std::vector<std::uint64_t> ways() const;
    /// Lines of all sets but the first, as many of each as are resident.
    [[nodiscard]] Offsets filler() const;
};
struct GrowingArraysResult {
    std::optional<GrownSets> found;
    std::string why;  ///< why no sets were found
};

/// `line`: bytes of a line. `fitting`: bytes of the largest array that is resident.
[[nodiscard]] GrowingArraysResult find_sets_by_growing_arrays(const Probe& probe, std::uint64_t line,
                                                              std::uint64_t fitting);

}  // namespace gputomo::deduce::cache
