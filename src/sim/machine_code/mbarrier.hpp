// Barriers in shared memory, which PTX calls mbarrier: how their 64 bits change.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gputomo::sim::machine_code {

struct BlockState;

inline constexpr std::uint64_t kBarrierBytes = 8;
/// In place of a barrier's offset: the registers that warps of the block have given back.
inline constexpr std::uint64_t kSpareRegisters = ~std::uint64_t{1};

/// One arrival at a barrier.
struct Arrival {
    std::uint64_t threads = 0;
    std::uint64_t transactions = 0;  ///< negative, modulo 2^64, where they complete
    std::uint64_t leaving = 0;       ///< threads that do not take part in later phases
};

/// Performs the arrival at a barrier of the block, and returns the barrier as it was before. A phase ends when no
/// arrivals and no transactions are left. The block's observer sees it.
std::uint64_t arrive_at_barrier(BlockState& block, std::byte* at, const Arrival& arrival);

}  // namespace gputomo::sim::machine_code
