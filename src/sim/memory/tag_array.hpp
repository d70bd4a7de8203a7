// The tags of one cache or TLB instance: which blocks it holds, found and replaced as described.
#pragma once

#include "sim/memory/geometry.hpp"
#include "sim/memory/key_index.hpp"
#include "sim/memory/replacement.hpp"

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gputomo::sim {

class TagArray {
public:
    TagArray(std::shared_ptr<const Geometry> geometry, std::uint64_t seed);

    /// One bit per sector of a block.
    using Sectors = std::uint32_t;
    struct Line {
        double ready = 0;  ///< when the pending sectors are there, for an SM of the line's own partition
        double asked = 0;  ///< when DRAM was asked for the pending sectors
        Sectors valid = 0;
        Sectors dirty = 0;
        Sectors pending = 0;   ///< sectors of the last fills, in flight until `ready`
        bool brought = false;  ///< they come because the launch brings them, which nobody has waited for yet
    };
    struct Found {
        Line* line = nullptr;       ///< null after a miss without allocation
        Sectors missing = 0;        ///< of those looked up
        Sectors evicted_dirty = 0;  ///< dirty sectors of the evicted line
        std::uint64_t evicted = 0;  ///< address of that line
    };
    /// Looks up `sectors` of the block that holds `address`. With `allocate` the missing ones become valid, and a
    /// missing block replaces another one as the policy says. The line pointer holds until the next lookup.
    Found lookup(std::uint64_t address, Sectors sectors, bool allocate);
    /// Makes `sectors` of the block dirty and returns true if they are resident. It belongs to the lookup
    /// before it: the policy does not count a second use.
    bool mark_dirty(std::uint64_t address, Sectors sectors);
    /// Whether all `sectors` of the block are resident. The policy does not count a use.
    [[nodiscard]] bool holds(std::uint64_t address, Sectors sectors) const;
    /// The block no longer has valid sectors, as in a cache that must not serve it again.
    void drop(std::uint64_t address);
    /// Memory has what `sectors` of the block hold.
    void mark_clean(std::uint64_t address, Sectors sectors);

    /// Forgets all blocks.
    void clear();
    /// Ways that hold a block.
    [[nodiscard]] std::uint64_t filled() const;
    /// Fills up to `blocks` empty ways, spread evenly over the sets, with blocks of addresses that nothing has. Each is
    /// as valid and as dirty as a resident block chosen at random.
    void fill_with_strangers(std::uint64_t blocks);

    /// The sectors that [address, address + bytes) touches; the range must end within the block of `address`.
    [[nodiscard]] Sectors sectors_of(std::uint64_t address, std::uint64_t bytes) const {
        const std::uint64_t offset = address & (block_bytes() - 1);
        const auto first = static_cast<std::uint32_t>(offset >> sector_shift_);
        const auto last = static_cast<std::uint32_t>((offset + bytes - 1) >> sector_shift_);
        return static_cast<Sectors>(((std::uint64_t{2} << last) - 1) & ~((std::uint64_t{1} << first) - 1));
    }
    [[nodiscard]] std::uint64_t block_bytes() const { return std::uint64_t{1} << block_shift_; }
    [[nodiscard]] std::uint32_t block_shift() const { return block_shift_; }
    [[nodiscard]] std::uint32_t sector_shift() const { return sector_shift_; }

private:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
    /// Each lookup reads all of it, so it lies together: most of a lookup's time goes into reading the host's memory.
    struct Set {
        std::uint32_t first = 0;     ///< slot of its first way
        std::uint32_t filled = 0;    ///< ways in use; they fill in order
        std::uint32_t last_way = 0;  ///< tried first: chases and streams repeat themselves
    };
    [[nodiscard]] std::uint32_t set_of(std::uint64_t address, std::uint64_t number) const;
    [[nodiscard]] std::uint32_t way_of(const Set& set, std::uint64_t number) const;
    std::uint32_t make_room(std::uint32_t set);
    /// A way of the set that lost its data to another set; the number of filled ways where there is none.
    [[nodiscard]] std::uint32_t way_without_data(const Set& set) const;
    /// Gives the line at `slot` a data line. Where none is free, it takes that of the line that has had its own
    /// longest.
    void take_data(std::size_t slot);

    std::shared_ptr<const Geometry> geometry_;
    std::uint32_t block_shift_;
    std::uint32_t sector_shift_;
    std::uint64_t set_mask_;  ///< sets - 1 where that is a power of two and the index is modulo, else 0
    std::vector<Set> sets_;
    std::vector<std::uint64_t> tags_;
    std::vector<Line> lines_;
    /// Where there are fewer data lines than tags: the slots that have one, and which of them got it first.
    std::vector<std::uint32_t> data_;
    std::size_t oldest_data_ = 0;
    std::optional<KeyIndex> index_;  ///< replaces the search through the ways where a set has many
    bool is_empty_ = true;           ///< no block has come since the last clear()
    std::unique_ptr<Replacement> replacement_;
};

}  // namespace gputomo::sim
