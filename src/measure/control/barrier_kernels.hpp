// Kernels of barriers in places where they aren't meant to be (Wong 2010, Listings 5-7), and their latencies.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// Since this compute capability the threads of a warp can be apart: bar.warp.sync does something, and bar.sync wants
/// them together.
inline constexpr int kIndependentSince = 70;

/// Cycles for which one warp waits for another one before it does something about it.
inline constexpr int kBarrierPatience = 20'000;

/// When a thread came to a barrier and when it was through, in cycles since warp 0 began.
struct Passage {
    std::int64_t arrived = 0;
    std::int64_t left = 0;
};

struct BarrierRecord {
    bool recorded = false;            ///< false for a thread that ended before
    std::array<Passage, 2> passages;  ///< its first and its second barrier
    std::uint32_t seen = 0;           ///< what it read from shared memory, where it did
};

/// The kernels; all of a block of two warps but for listing_5.
enum class BarrierCase : std::uint8_t {
    halves,  ///< the halves of warp 0 come to barriers in two sides of a branch; warp 1 arrives for it, and again, so
             ///< that it ends
    listing_5,  ///< the same in a block of one warp: the first half writes, the second reads
    listing_6,  ///< warp 1 spins until warp 0 is through a barrier that warp 1 does not come to before it gives up
    listing_7,  ///< the halves of warp 0 come to barriers in two sides of a branch, warp 1 to two, one after the other
    warp_ends,  ///< warp 1 ends at once, warp 0 comes to a barrier
    threads_end,  ///< 16 threads of warp 0 end at once, the others and warp 1 come to a barrier
};

[[nodiscard]] ptx::KernelBuilder barrier_case_kernel(ptx::Target target, BarrierCase which);
/// One record a thread.
[[nodiscard]] std::vector<BarrierRecord> run_barrier_case(device::Device& device, BarrierCase which);

}  // namespace gputomo::measure
