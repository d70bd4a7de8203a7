// Cache and TLB geometry and replacement, deduced from which loads of a chase hit and which miss.
//
// 1. Fill granularity: after eviction, a walk in single words misses once per sector.
// 2. Capacity: the largest contiguous array that a repeated walk serves without a miss.
// 3. Line, ways, set mapping: one line more makes exactly one set overflow, and the loads that miss from then on are that
//    set's lines: their lengths are lines, their number the ways and one, their distances the set mapping (Mei 2014, 3.2,
//    step 3, read from single loads instead of from averages).
// 4. Line again, by shifting every second member of an overflowing set until they part (Wong 2010, Fig. 15); the only
//    way where a nearer level hides most lookups.
// 5. Where the overflow does not show one set (a random policy, an array too large to walk): lines powers of two apart, as many
//    as stay; halving the distance keeps them in one set until it is shorter than a way. Lines that never conflict: a hash.
// 6. Policy: candidates are simulated on a random walk over one set, and what disagrees is discarded.
#pragma once

#include "deduce/chase.hpp"
#include "deduce/estimate.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::deduce {

struct CacheQuestion {
    double threshold = 0;            ///< cycles; a slower load missed this level
    std::uint64_t fits = 0;          ///< bytes; an array that it serves
    std::uint64_t overflows = 0;     ///< bytes; an array that it does not serve
    std::uint64_t largest = 0;       ///< bytes available for arrays
    std::uint64_t word = 8;          ///< bytes; the finest step (8 for data, a small page for TLBs)
    /// Stride at which every sector is looked up; `word` if nothing nearer hides lookups, the span of the level before for a TLB.
    std::uint64_t visible = 0;
    std::uint64_t most_loads = 1 << 18;  ///< of one lap; larger arrays are bracketed, not measured to the line
    std::uint64_t seed = 1;
};

/// A number with how sure it is; confidence 0: not determined.
struct Finding {
    std::int64_t value = 0;
    double confidence = 0;
    std::array<std::int64_t, 2> bracket{};  ///< smallest and largest it can be
    std::vector<std::int64_t> candidates;   ///< what is left where more than one value explains the data
};

struct PolicyFinding {
    std::string name;          ///< empty: not determined
    double confidence = 0;
    std::vector<std::pair<std::string, double>> agreement;  ///< share of loads each candidate predicts
};

struct CacheFindings {
    Finding sector, line, capacity, ways, sets;
    std::vector<std::int64_t> set_ways;  ///< where sets are unequal
    std::string index;                   ///< "modulo", "hash" or empty
    PolicyFinding policy;
    std::vector<std::string> remarks;
};

[[nodiscard]] CacheFindings deduce_geometry(const Chase& chase, const CacheQuestion& question);

/// Estimates for caches.KEY.* (sector, line, capacity, ways, sets, index, policy).
[[nodiscard]] std::vector<Estimate> cache_estimates(const CacheFindings& findings, const std::string& prefix, const std::string& method);
/// Estimates for tlbs.KEY.* (span, reach, entries, ways, sets, policy).
[[nodiscard]] std::vector<Estimate> tlb_estimates(const CacheFindings& findings, const std::string& prefix, const std::string& method);

}  // namespace gputomo::deduce
