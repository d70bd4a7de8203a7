// Cache and TLB geometry and replacement policy, deduced from which loads of a pointer chase hit and which miss.
//
// Most steps ask whether a group of lines is resident together (probe.hpp):
// 1. Sector: after an eviction, a run in single words misses once per sector (line.hpp).
// 2. Equal sets with a modulo index, from contiguous arrays (equal_sets.hpp). This is cheap, and no other step works
//    where an upper level filters lookups. Without such a level, steps 3 and 4 follow if step 5 refutes the result.
// 3. An eviction set, found by group testing without an assumption about the index (eviction_set.hpp). The line size is
//    the smallest shift that moves an address of it to another line (line.hpp).
// 4. Index: the line number modulo the sets, or XORs of address bits, found by linear algebra (index.hpp).
// 5. Ways of each set, also of unequal sets. Confidence is the share of unseen groups of lines whose hits and misses
//    the geometry predicts (sets.hpp).
// 6. Policy: each candidate has to explain which lines a full set evicted (policy.hpp).
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
    /// Loads of one pass; larger arrays are bracketed, not measured to the line.
    std::uint64_t max_pass_loads = 1 << 18;
    /// Load budget of the eviction-set search, which follows if arrays do not show the sets. A GPU takes about a second
    /// for two million loads.
    std::uint64_t group_test_loads = std::uint64_t{8} << 20;
    std::uint64_t seed = 1;
    /// Address of offset 0, or any address with the same alignment: it decides which address bits choose the set.
    std::uint64_t base = 0;
};

/// Confidence of a number that is only known to lie in an interval. A number of this confidence or less is undecided.
inline constexpr double kBracketedConfidence = 0.5;

/// A number and how sure it is. Confidence 0: it is not determined.
struct Finding {
    std::int64_t value = 0;
    double confidence = 0;
    std::array<std::int64_t, 2> bracket{};  ///< smallest and largest possible value
    std::vector<std::int64_t> candidates;   ///< the values left where more than one explains the data
};

struct PolicyFinding {
    std::string name;  ///< empty: not determined
    double confidence = 0;
    std::vector<std::string> candidates;                    ///< policies left where several explain the traces equally
    std::vector<double> odds;                               ///< of each way to be the victim, largest first, if unequal
    std::string evidence;                                   ///< why the victims are random or follow no candidate
    std::vector<std::pair<std::string, double>> agreement;  ///< share of the victims that each candidate explains
};

struct CacheFindings {
    Finding sector, line, capacity, ways, sets;  ///< sector, line and capacity in bytes
    std::vector<std::int64_t> set_ways;          ///< ways of each set where sets are unequal
    std::string index;                           ///< "modulo", "bits", "hash" or empty
    std::vector<std::int64_t> index_bits;        ///< index "bits": the address bits
    /// Index "hash": one mask of address bits for each bit of the set number. Its lowest bit is in no other mask.
    std::vector<std::int64_t> index_hash;
    PolicyFinding policy;
    std::vector<std::string> remarks;  ///< for the user: what was tried without result
};

/// `chase` runs on buffers of `question.buffer_bytes` bytes. What cannot be found out stays at confidence 0; running
/// out of the load budget is a remark, not an error.
[[nodiscard]] CacheFindings deduce_geometry(const Chase& chase, const CacheQuestion& question);

/// Estimates for caches.KEY.* (sector, line, capacity, ways, sets, set_ways, index, policy, way_odds). `prefix`:
/// "caches.KEY".
[[nodiscard]] std::vector<results::Estimate> cache_estimates(const CacheFindings& findings, const std::string& prefix,
                                                             const std::string& method);
/// Estimates for tlbs.KEY.* (span, reach, entries, ways, sets, set_ways, policy). `prefix`: "tlbs.KEY".
[[nodiscard]] std::vector<results::Estimate> tlb_estimates(const CacheFindings& findings, const std::string& prefix,
                                                           const std::string& method);

}  // namespace gputomo::deduce
