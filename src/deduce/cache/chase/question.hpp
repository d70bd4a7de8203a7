// What a deduction about one cache or TLB starts from: its threshold, rough size and loads that it may use.
#pragma once

#include <cstdint>

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

}  // namespace gputomo::deduce
