// Kernels with barriers in unintended places (Wong 2010, Listings 5 to 7), and their latencies.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// Since this compute capability the threads of a warp can diverge freely: bar.warp.sync has an effect, and bar.sync
/// wants the warp as a whole.
inline constexpr int kIndependentSince = 70;

/// Cycles for which one warp waits for the other one before it intervenes. Far longer than any barrier takes.
inline constexpr int kBarrierPatience = 20'000;

/// When a thread came to a barrier and when it left, in cycles since warp 0 began.
struct Passage {
    std::int64_t arrived = 0;
    std::int64_t left = 0;
};

/// What one thread of a barrier case recorded.
struct BarrierRecord {
    bool recorded = false;            ///< false for a thread that ended before
    std::array<Passage, 2> passages;  ///< its first and its second barrier
    std::uint32_t read_value = 0;     ///< the value that it read from shared memory, if it did
};

/// The kernels, in blocks of two warps except listing_5.
enum class BarrierCase : std::uint8_t {
    /// the halves of warp 0 come to barriers on two sides of a branch; warp 1 arrives in its place, repeatedly, so
    /// that the kernel ends
    halves,
    listing_5,  ///< the same in a block of one warp: the first half writes, the second reads
    listing_6,  ///< warp 1 spins until warp 0 has passed a barrier that warp 1 does not come to before it gives up
    /// the halves of warp 0 come to barriers on two sides of a branch; warp 1 comes to two barriers, one after the
    /// other
    listing_7,
    warp_ends,    ///< warp 1 ends at once, warp 0 comes to a barrier
    threads_end,  ///< 16 threads of warp 0 end at once; its others and warp 1 come to a barrier
};

[[nodiscard]] ptx::KernelBuilder barrier_case_kernel(ptx::Target target, BarrierCase which);
/// One record for each thread.
[[nodiscard]] std::vector<BarrierRecord> run_barrier_case(device::Device& device, BarrierCase which);

}  // namespace gputomo::measure
