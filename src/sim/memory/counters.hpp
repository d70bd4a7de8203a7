// What the memory system counts during a launch.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace gputomo::sim {

struct MemoryCounters {
    std::uint64_t memory_transactions = 0;
    std::map<std::string, std::uint64_t> cache_hits;  ///< by cache key, or "tlbs." and the TLB's key
    std::map<std::string, std::uint64_t> cache_misses;
    std::uint64_t dram_bytes = 0;
};

}  // namespace gputomo::sim
