// What the threads of a warp that access memory together make of it: blocks that are moved, and banks that are asked
// more than once.
#pragma once

#include <cstdint>
#include <set>
#include <span>

namespace gputomo::predict {

/// Numbers of the blocks of `block` bytes that threads touch, each `bytes` from its address on (Volkov 2016, 2.5).
[[nodiscard]] std::set<std::int64_t> blocks_touched(std::span<const std::int64_t> addresses, std::int64_t bytes,
                                                    std::int64_t block);

/// Different words of the bank that is asked for most of them; threads that want one word share it (Volkov 2016, 2.6).
/// Words are `width` bytes, and neighbours lie in neighbouring banks.
[[nodiscard]] std::size_t conflict_ways(std::span<const std::int64_t> addresses, std::int64_t bytes, std::int64_t banks,
                                        std::int64_t width);

}  // namespace gputomo::predict
