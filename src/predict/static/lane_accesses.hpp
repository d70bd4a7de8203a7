// Coalescing and bank conflicts of one access of a warp, from the addresses of its threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

namespace gputomo::predict {

/// Indices of the aligned blocks of `block` bytes that are touched if each thread accesses `bytes` bytes from its
/// address on (Volkov 2016, 2.5).
[[nodiscard]] std::set<std::int64_t> blocks_touched(std::span<const std::int64_t> addresses, std::int64_t bytes,
                                                    std::int64_t block);

/// The number of distinct words that the busiest bank must deliver; threads that access the same word share it (Volkov
/// 2016, 2.6). Words have `width` bytes, and neighbouring words lie in neighbouring banks.
[[nodiscard]] std::size_t conflict_ways(std::span<const std::int64_t> addresses, std::int64_t bytes, std::int64_t banks,
                                        std::int64_t width);

}  // namespace gputomo::predict
