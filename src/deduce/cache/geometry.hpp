// Cache and TLB geometry and replacement, deduced from which loads of a chase hit and which miss.
//
// What is asked again and again is whether a group of lines comes to stay (geometry/probe.hpp). From that:
// 1. Fill granularity: after eviction, a walk in single words misses once per sector.
// 2. Equal sets by the line number modulo their number, by walks through arrays (geometry/contiguous.hpp): cheap, and
// all there is
//    behind a nearer level. Elsewhere, 5 has to confirm it; what it does not confirm is left to 3 and 4.
// 3. Lines of one set, found by group testing: no assumption about how the set is chosen (geometry/full_set.hpp).
//    Line: neighbours that are in the same line, and those that are not (geometry/line.hpp).
// 4. Index: the line number modulo the sets, or XORs of address bits by linear algebra (geometry/index.hpp).
// 5. Ways of each set, unequal ones included; then groups of lines nobody looked at are predicted, and confidence is
// the share
//    of them that was right (geometry/sets.hpp).
// 6. Policy: each candidate explains which lines a full set evicted, or doesn't (geometry/policy.hpp).
#pragma once

#include "deduce/cache/chase.hpp"
#include "results/estimate.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::deduce {

struct CacheQuestion {
    double threshold = 0;            ///< cycles; a slower load missed this level
    std::uint64_t fits = 0;          ///< bytes; an array that this level serves
    std::uint64_t overflows = 0;     ///< bytes; an array that this level does not serve
    std::uint64_t buffer_bytes = 0;  ///< bytes available for arrays
    std::uint64_t word = 8;          ///< bytes; the finest step (8 for data, a small page for TLBs)
    /// Bytes; loads this far apart all look up this level. It is `word` where no upper level filters lookups, the upper
    /// level's line elsewhere (for a TLB, what one of its entries spans).
    std::uint64_t probe_stride = 0;
    bool filtered = false;         ///< an upper level filters lookups, so that the chase inserts filler lines
    std::uint64_t code_bytes = 0;  ///< bytes of the chase's own code in this cache, which each load reads again
    std::uint64_t max_pass_loads =
        1 << 18;  ///< loads of one pass; larger arrays are bracketed, not measured to the line
    /// Loads for the eviction-set search, where arrays explain nothing; a GPU takes about a second for two million.
    std::uint64_t group_test_loads = std::uint64_t{8} << 20;
    std::uint64_t seed = 1;
    /// Address of offset 0, or any address with the same alignment: it decides which address bits choose the set.
    std::uint64_t base = 0;
};

/// A number with how sure it is; confidence 0: not determined.
struct Finding {
    std::int64_t value = 0;
    double confidence = 0;
    std::array<std::int64_t, 2> bracket{};  ///< smallest and largest it can be
    std::vector<std::int64_t> candidates;   ///< what is left where more than one value explains the data
};

struct PolicyFinding {
    std::string name;  ///< empty: not determined
    double confidence = 0;
    std::vector<std::string> candidates;                    ///< where several explain the walk equally well
    std::vector<double> odds;                               ///< of each way, largest first, where they differ
    std::string evidence;                                   ///< why it is none of the candidates, or chance
    std::vector<std::pair<std::string, double>> agreement;  ///< share of the victims that each candidate explains
};

struct CacheFindings {
    Finding sector, line, capacity, ways, sets;
    std::vector<std::int64_t> set_ways;    ///< where sets are unequal
    std::string index;                     ///< "modulo", "bits", "hash" or empty
    std::vector<std::int64_t> index_bits;  ///< with index "bits": address bits
    std::vector<std::int64_t>
        index_hash;  ///< with index "hash": masks of address bits, each with a lowest bit that no other has
    PolicyFinding policy;
    std::vector<std::string> remarks;
};

[[nodiscard]] CacheFindings deduce_geometry(const Chase& chase, const CacheQuestion& question);

/// Estimates for caches.KEY.* (sector, line, capacity, ways, sets, set_ways, index, policy, way_odds).
[[nodiscard]] std::vector<results::Estimate> cache_estimates(const CacheFindings& findings, const std::string& prefix,
                                                             const std::string& method);
/// Estimates for tlbs.KEY.* (span, reach, entries, ways, sets, set_ways, policy).
[[nodiscard]] std::vector<results::Estimate> tlb_estimates(const CacheFindings& findings, const std::string& prefix,
                                                           const std::string& method);

}  // namespace gputomo::deduce
