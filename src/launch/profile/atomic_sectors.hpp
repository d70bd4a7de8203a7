// Estimates from the atomics of a few blocks how many requests all blocks of a grid send to each sector of memory.
#pragma once

#include "launch/profile/launch_profile.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gputomo::launch {

/// An address that compare-and-swap instructions ask for.
struct SwappedAddress {
    std::size_t warp = 0;  ///< the first that asked
    double swaps = 0;
    bool met = false;  ///< another warp asked, too
};
using SwappedAddresses = std::unordered_map<std::uint64_t, SwappedAddress>;

/// The atomics of one block.
struct AtomicsOfBlock {
    std::unordered_map<std::uint64_t, double> requests;  ///< by sector of global memory
    SwappedAddresses swapped;                            ///< by address of global memory
    SwappedAddresses swapped_shared;                     ///< by address of shared memory
};

class AtomicSectors {
public:
    /// Adds a block of the grid.
    void add(std::uint64_t block, const AtomicsOfBlock& atomics);

    /// Fills in `atomic_sectors`, `scattered_atomics`, `met_swaps` and `most_swaps` for a grid of `profile.blocks`. A
    /// sector that blocks share is taken to be shared by as many of the other blocks between the first and the last of
    /// them. The blocks' other requests go to sectors that were not seen.
    void fill(LaunchProfile& profile);

private:
    struct Sector {
        double requests = 0;
        std::uint64_t blocks = 0, first = 0, last = 0;
    };
    [[nodiscard]] double of_grid(const Sector& sector, const LaunchProfile& profile) const;

    std::unordered_map<std::uint64_t, Sector> sectors_;
    std::vector<std::uint64_t> blocks_;  ///< that were added
    double requests_ = 0;                ///< of all added blocks
    SwappedAddresses swapped_;           ///< `warp` is the number of the block
    double swaps_ = 0, met_swaps_ = 0;
};

}  // namespace gputomo::launch
