// What deduction asks of a memory path: a cyclic pointer chase over chosen addresses with every latency recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace gputomo::deduce {

/// A cyclic access sequence: offsets[0] -> offsets[1] -> ... -> offsets[0]. Offsets are distinct multiples of 8 bytes,
/// counted from the array's start.
struct ChaseRequest {
    std::vector<std::uint64_t> offsets;  ///< bytes
    std::uint32_t warm_passes = 1;       ///< whole passes before recording
    std::uint32_t recorded_passes = 1;   ///< whole passes recorded
};

/// Latency in cycles of each recorded load, without the cost of recording it: latencies[pass * offsets.size() + i] is
/// the load of offsets[i].
struct ChaseTrace {
    std::vector<double> latencies;
    /// Loads of one trace segment. The chase goes on unrecorded between two segments. 0: one segment holds all loads.
    std::size_t segment_loads = 0;
};

using Chase = std::function<ChaseTrace(const ChaseRequest&)>;

/// Offsets 0, stride, 2 stride, ... below `bytes`.
[[nodiscard]] std::vector<std::uint64_t> strided(std::uint64_t bytes, std::uint64_t stride);
/// As above, with the stride doubled until there are at most `most` offsets, or one more.
[[nodiscard]] std::vector<std::uint64_t> strided(std::uint64_t bytes, std::uint64_t stride, std::uint64_t most);

}  // namespace gputomo::deduce
