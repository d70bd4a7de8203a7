// Finds blocks that load what other blocks write.
#pragma once

#include "launch/memory_range.hpp"
#include "launch/profile/grid_footprint.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::launch {

class Exchange {
public:
    explicit Exchange(const std::vector<MemoryRange>& buffers);

    /// The sectors of global memory that a block loads and writes.
    void add(const Sectors& loaded, const Sectors& written);
    /// Share of the loaded sectors that other blocks probably write. They lie between the first and the last sector of
    /// their buffer that the blocks write, but not between those that the loading block itself writes.
    [[nodiscard]] double share() const;

private:
    struct Range {
        std::uint64_t first = ~std::uint64_t{0}, last = 0;
        void include(const Range& other);
        void include(std::uint64_t sector) { include({sector, sector}); }
        [[nodiscard]] bool contains(std::uint64_t sector) const { return first <= sector && sector <= last; }
    };
    using Ranges = std::vector<Range>;  ///< by buffer_of()
    [[nodiscard]] Ranges ranges_of(const Sectors& sectors) const;
    [[nodiscard]] std::size_t buffer_of(std::uint64_t sector) const;

    std::vector<std::uint64_t> starts_;   ///< first sectors of the buffers, ascending
    Ranges written_;                      ///< by all blocks
    std::vector<std::uint64_t> foreign_;  ///< loaded sectors outside of what the loading block writes
    double loaded_ = 0;                   ///< sectors of the blocks that `foreign_` is of
};

}  // namespace gputomo::launch
