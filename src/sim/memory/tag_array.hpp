// The tags of one cache or TLB instance: which blocks it holds, found and replaced as described.
#pragma once

#include "machine/machine.hpp"
#include "sim/memory/replacement.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace gputomo::sim {

/// Geometry without names: a TLB is one whose block is an entry's span.
struct Geometry {
    std::uint64_t block = 0;   ///< bytes that share one tag: line, or TLB entry span
    std::uint64_t sector = 0;  ///< bytes filled by one miss
    std::vector<std::uint32_t> set_ways;
    std::vector<std::uint64_t> index_masks;  ///< one mask of address bits per set bit; empty: block number modulo sets
    std::string policy;
    std::vector<double> way_odds;
};

/// Checks the leaves and makes the geometry. Throws InputError naming `where` (the path of the cache or TLB).
[[nodiscard]] Geometry geometry_of(const machine::Cache& cache, const std::string& where);
[[nodiscard]] Geometry geometry_of(const machine::Tlb& tlb, const std::string& where);

class TagArray {
public:
    TagArray(const Geometry& geometry, std::uint64_t seed);

    struct Lookup {
        bool hit = false;
        /// When the block's data is (or will be) there; the caller sets it after a miss.
        double* ready = nullptr;
    };
    /// Looks `address` up; a miss fills the sector when `allocate`, evicting as the policy says.
    Lookup access(std::uint64_t address, bool allocate);

    [[nodiscard]] std::uint64_t block() const { return block_; }
    [[nodiscard]] std::uint64_t sector() const { return sector_; }

private:
    static constexpr std::uint64_t kEmpty = std::numeric_limits<std::uint64_t>::max();
    struct Entry {
        std::uint64_t tag = kEmpty;
        std::uint64_t sectors = 0;  ///< bit per valid sector
        double ready = 0;
    };
    [[nodiscard]] std::uint32_t set_of(std::uint64_t address, std::uint64_t number) const;

    std::uint64_t block_;
    std::uint64_t sector_;
    std::vector<std::uint64_t> index_masks_;
    std::vector<std::uint32_t> set_ways_;
    std::vector<std::size_t> first_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> last_way_;  ///< per set, tried first: chases and streams repeat themselves
    std::unique_ptr<Replacement> replacement_;
};

}  // namespace gputomo::sim
