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
    std::uint64_t stores = 0;          ///< transactions to global memory
    std::uint64_t partial_stores = 0;  ///< those that write sectors in part
    double filling_cycles = 0;         ///< for which stores to lines on their way block parts of the last cache, summed
    std::uint64_t atomics = 0;         ///< transactions
    std::uint64_t met_atomics = 0;     ///< those that touch what the one before them in their unit touched
};

}  // namespace gputomo::sim
