// The blocks in which a warp gets its code: where in the code it had to wait.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::deduce {

/// One place in a kernel's code at which a warp waited for its next instruction, or did not.
struct FetchSample {
    std::uint64_t offset = 0;  ///< bytes
    bool waited = false;
};

struct FetchBlocks {
    std::vector<std::uint64_t> sizes;  ///< that explain most places equally well, smallest first; none where no place
                                       ///< waited, or less than half of the waits are explained
    std::size_t explained = 0;         ///< places of all
    std::size_t runner_up = 0;         ///< places that the next best size explains
};

/// Of each kernel's places. A size of n instructions, each `unit` bytes, says that a warp waits at every n-th of them;
/// where the first one is may differ from kernel to kernel.
[[nodiscard]] FetchBlocks fetch_blocks(std::span<const std::vector<FetchSample>> kernels, std::uint64_t unit);

/// The largest block, a power of two of `unit` bytes, at the begin of which (nearly) all waits are that were seen; 0
/// where they are too few, or anywhere. Code that is fetched ahead now and then comes in time, so that most begins of
/// blocks may not have been waited for.
[[nodiscard]] std::uint64_t largest_block_of_waits(std::span<const FetchSample> places, std::uint64_t unit);

}  // namespace gputomo::deduce
