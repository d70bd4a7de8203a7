// Equal sets chosen by the line number modulo their number, found by walks through contiguous arrays and lines at equal
// distances.
//
// The cheapest way, and one whose tours keep their order, so that it also works where a nearer level hides lookups:
// 1. Capacity: the largest array that a repeated walk serves without a miss.
// 2. Sets: one line more makes exactly one set overflow; the loads that miss from then on are its lines (Mei 2014, 3.2,
// step 3, read
//    from single loads instead of from averages).
// 3. Line, by shifting every second member of an overflowing set until they part (Wong 2010, Fig. 15).
// 4. Where the overflow does not show one set (a random policy, an array too large to walk): lines powers of two apart,
// as many as
//    stay; halving the distance keeps them in one set until it is shorter than a way.
#pragma once

#include "deduce/cache/probe.hpp"

#include <optional>
#include <string>

namespace gputomo::deduce::cache {

struct EqualSets {
    std::uint64_t sets = 0, ways = 0, line = 0;
};
struct Bracket {
    std::uint64_t fits = 0;       ///< bytes of the largest equal_sets array that was seen to stay; 0: none was
    std::uint64_t overflows = 0;  ///< bytes of the smallest that was not, or that the question names
    std::uint64_t overflow = 0;   ///< bytes of the smallest that was not, if it is only one step larger; else 0
};
struct EqualSetsResult {
    std::optional<EqualSets> sets;
    Bracket capacity;  ///< where there are no such sets
    std::string why;   ///< what speaks against them
};

/// `piece`: bytes that one miss fills. The probe looks at the whole array.
[[nodiscard]] EqualSetsResult find_equal_sets(const Probe& probe, std::uint64_t piece);

}  // namespace gputomo::deduce::cache
