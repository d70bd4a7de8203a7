// Equal sets chosen by the line number modulo their number, found from contiguous arrays and lines at equal distances.
//
// This is the cheapest method. Its access sequences keep their order, so that it also works where an upper level
// filters lookups:
// 1. Capacity: the largest array that repeated passes read without a miss.
// 2. Sets: one line more makes exactly one set overflow; the loads that miss from then on are its lines (Mei 2014, 3.2,
//    step 3, read from single loads instead of averages).
// 3. Line: every second line of an eviction set is shifted until the set no longer overflows (Wong 2010, Fig. 15).
// 4. Where the overflow does not show one set (a random policy, or an array too large to read), lines powers of two
//    apart are added until they overflow. Half the distance keeps them in one set until it is shorter than a way.
#pragma once

#include "deduce/cache/arrays/array_capacity.hpp"
#include "deduce/cache/chase/probe.hpp"

#include <optional>
#include <string>

namespace gputomo::deduce::cache {

struct EqualSets {
    std::uint64_t sets = 0, ways = 0;
    std::uint64_t line = 0;  ///< bytes
};
struct EqualSetsResult {
    std::optional<EqualSets> sets;
    Bracket capacity;
    std::string why;  ///< why there are no equal sets
};

/// `sector`: bytes that one miss fills. The probe must look at the whole buffer.
[[nodiscard]] EqualSetsResult find_equal_sets(const Probe& probe, std::uint64_t sector);

}  // namespace gputomo::deduce::cache
