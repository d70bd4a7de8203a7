// What a launch cost, for `gputomo simulate` and the benchmarks.
#pragma once

#include "sim/memory/counters.hpp"

#include <cstdint>
#include <string>

namespace gputomo::sim {

struct Counters : MemoryCounters {
    std::uint64_t cycles = 0;           ///< from the start of the first block
    std::uint64_t profiler_cycles = 0;  ///< with launch.profiler_cycles, as profilers count them
    std::uint64_t warp_instructions = 0;
    std::uint64_t thread_instructions = 0;
    std::uint64_t bank_conflict_cycles = 0;  ///< of shared memory
    std::uint64_t divergent_branches = 0;
    std::uint64_t swaps = 0;         ///< compare-and-swap requests of threads, in machine code
    std::uint64_t failed_swaps = 0;  ///< those that found another value than they expected
    std::string waits_at;            ///< where machine code first waited for another block; empty: nowhere
};

}  // namespace gputomo::sim
