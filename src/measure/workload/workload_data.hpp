// The input of each workload on the device, and the check of what its kernel computes.
#pragma once

#include "measure/workload/workload.hpp"

#include <cstdint>

namespace gputomo::measure::workload_data {

/// Blocks in a row of sgemm's grid, and the length of its dot products.
inline constexpr int kColumnBlocks = 16;
inline constexpr std::uint32_t kDepth = 256;
/// Threads of a block of reduce, and the numbers that it sums.
inline constexpr int kSumThreads = 256;
inline constexpr int kSummed = 4096;

[[nodiscard]] WorkloadData vector_add(device::Device& device, std::int64_t blocks);
[[nodiscard]] WorkloadData permute_identity(device::Device& device, std::int64_t blocks);
[[nodiscard]] WorkloadData permute_random(device::Device& device, std::int64_t blocks);
[[nodiscard]] WorkloadData vector_abs_positive(device::Device& device, std::int64_t blocks);
[[nodiscard]] WorkloadData vector_abs_negative(device::Device& device, std::int64_t blocks);
[[nodiscard]] WorkloadData black_scholes(device::Device& device, std::int64_t blocks);
[[nodiscard]] WorkloadData sgemm(device::Device& device, std::int64_t blocks);
[[nodiscard]] WorkloadData reduce(device::Device& device, std::int64_t blocks);

}  // namespace gputomo::measure::workload_data
