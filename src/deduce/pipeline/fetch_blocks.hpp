// Finds the size of the blocks in which a warp fetches code, from the places in the code where it had to wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::deduce {

/// One instruction of a kernel, and whether a warp waited for it.
struct FetchSample {
    std::uint64_t offset = 0;  ///< bytes from the start of the code
    bool waited = false;
};

struct FetchBlocks {
    /// Block sizes in bytes that explain the most samples, equally many each, in ascending order. Empty if no warp
    /// waited, or if less than half of the waits are explained.
    std::vector<std::uint64_t> sizes;
    std::size_t explained = 0;  ///< samples that these sizes explain
    std::size_t runner_up = 0;  ///< samples that the next best size explains
};

/// Takes the samples of each kernel; an instruction has `unit` bytes. With blocks of n instructions, a warp waits at
/// every n-th one; the first of them may differ from kernel to kernel.
[[nodiscard]] FetchBlocks fetch_blocks(std::span<const std::vector<FetchSample>> kernels, std::uint64_t unit);

/// The largest block of `unit` bytes times a power of two at whose starts nearly all waits lie. Returns 0 if there are
/// too few waits, or if they lie anywhere.
/// Prefetched code often arrives in time, so a warp may wait at only a few of the block starts.
[[nodiscard]] std::uint64_t largest_block_of_waits(std::span<const FetchSample> places, std::uint64_t unit);

}  // namespace gputomo::deduce
