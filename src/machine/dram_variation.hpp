// How latencies of single reads from DRAM differ from their mean. A hash of the address decides, so that a simulation
// and a prediction are the same in every run.
#pragma once

#include "machine/caches.hpp"
#include "units/scattered.hpp"

#include <cstdint>

namespace gputomo::machine {

/// Lines of one aligned block of this size are equally far away. A larger block would let more of the lines that a warp
/// reads together have the same latency; 256 bytes are what GPUs keep together in a channel.
inline constexpr std::uint64_t kVariationBytes = 256;

/// Cycles between the latencies of the nearest and the farthest line; 0 where they are not described as a pair.
[[nodiscard]] inline double line_range(const Path& path) {
    if (!path.memory_latency_line_range || path.memory_latency_line_range.value.size() != 2) return 0;
    return static_cast<double>(path.memory_latency_line_range.value[1] - path.memory_latency_line_range.value[0]);
}

/// Where a line lies between the nearest (-0.5) and the farthest one (0.5), in a memory whose channels are not
/// described. Its latency is the mean plus this share of line_range().
[[nodiscard]] constexpr double line_distance(std::uint64_t address) {
    // Steps in which latencies differ. With more of them, single latencies only lie closer together.
    constexpr std::uint64_t kPlaces = 16;
    return static_cast<double>(scattered(address / kVariationBytes) % kPlaces) / static_cast<double>(kPlaces - 1) - 0.5;
}

}  // namespace gputomo::machine
