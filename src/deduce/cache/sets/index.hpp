// Which set an address belongs to: the line number modulo the number of sets, or XORs of address bits.
#pragma once

#include "deduce/cache/sets/eviction_set.hpp"

#include <optional>
#include <string>

namespace gputomo::deduce::cache {

class Index {
public:
    /// Sets by the line number modulo their number. `address`: address of offset 0; `span`: bytes of usable offsets.
    static Index modulo(std::uint64_t sets, std::uint64_t line, std::uint64_t address, std::uint64_t span);
    /// One mask of address bits for each bit of the set number, each with a bit that no other mask has. The set bit is
    /// the parity of the masked address. `kernel` spans the differences of addresses that share a set.
    static Index linear(std::vector<std::uint64_t> masks, std::vector<std::uint64_t> kernel, std::uint64_t line);

    [[nodiscard]] std::uint64_t sets() const { return sets_; }
    /// Bytes.
    [[nodiscard]] std::uint64_t line() const { return line_; }
    /// Smallest number of lines of one set among the usable offsets.
    [[nodiscard]] std::uint64_t lines_in_span() const;
    /// Offset of the i-th line of a set.
    [[nodiscard]] std::uint64_t line_of(std::uint64_t set, std::uint64_t i) const;
    /// Set number of an address, equal for all addresses of one set. It is not the number that line_of() takes.
    [[nodiscard]] std::uint64_t set_of(std::uint64_t address) const;
    /// "modulo", "bits" or "hash".
    [[nodiscard]] std::string name() const;
    [[nodiscard]] const std::vector<std::uint64_t>& masks() const { return masks_; }

private:
    std::uint64_t sets_ = 1;
    std::uint64_t line_ = 1;
    std::uint64_t first_set_ = 0;  ///< modulo: the set of offset 0
    std::uint64_t span_ = 0;       ///< bytes; 0: a linear index
    std::vector<std::uint64_t> masks_, kernel_;
};

/// Tries sets by the line number modulo their number. If that does not explain which lines share the set, linear
/// algebra over GF(2) finds the combinations of address bits that leave the set unchanged. Returns nullopt if neither
/// explains it.
[[nodiscard]] std::optional<Index> find_index(const Probe& probe, const EvictionSet& eviction_set, std::uint64_t line);

}  // namespace gputomo::deduce::cache
