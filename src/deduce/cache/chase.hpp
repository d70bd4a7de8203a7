// What deduction may ask of a memory path: a cyclic pointer chase over chosen addresses, every latency recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace gputomo::deduce {

/// A closed tour: offsets[0] -> offsets[1] -> ... -> offsets[0], each a distinct multiple of 8 bytes from the array's
/// start.
struct ChaseRequest {
    std::vector<std::uint64_t> offsets;  ///< bytes
    std::uint32_t warm_laps = 1;         ///< whole tours before recording
    std::uint32_t recorded_laps = 1;     ///< whole tours recorded
};

/// Latency in cycles of each recorded load, recording overhead taken off: latencies[lap * offsets.size() + i] is the
/// load of offsets[i].
struct ChaseTrace {
    std::vector<double> latencies;
    /// Loads recorded without a break; between two such pieces the tour went on unrecorded. 0: all of them.
    std::size_t unbroken = 0;
};

using Chase = std::function<ChaseTrace(const ChaseRequest&)>;

/// offsets 0, stride, 2 stride, ... below `bytes`.
[[nodiscard]] std::vector<std::uint64_t> strided(std::uint64_t bytes, std::uint64_t stride);
/// The same with the stride doubled as often as it takes for no more than `most` offsets, or one more.
[[nodiscard]] std::vector<std::uint64_t> strided(std::uint64_t bytes, std::uint64_t stride, std::uint64_t most);

}  // namespace gputomo::deduce
