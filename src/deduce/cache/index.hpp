// Which set an address belongs to: the line's number modulo the sets, or bits of the address, each an XOR of several.
#pragma once

#include "deduce/cache/eviction_set.hpp"

#include <optional>
#include <string>

namespace gputomo::deduce::cache {

class Index {
public:
    /// `address` is that of offset 0.
    static Index modulo(std::uint64_t sets, std::uint64_t line, std::uint64_t address, std::uint64_t span);
    /// One mask of address bits for each bit of the set number, each with a bit that no other has; `kernel` spans the
    /// differences of addresses that share a set.
    static Index linear(std::vector<std::uint64_t> masks, std::vector<std::uint64_t> kernel, std::uint64_t line);

    [[nodiscard]] std::uint64_t sets() const { return sets_; }
    [[nodiscard]] std::uint64_t line() const { return line_; }
    /// Number of lines of one set within reach of the chase, at least.
    [[nodiscard]] std::uint64_t lines_in_span() const;
    /// Offset of the i-th line of a set.
    [[nodiscard]] std::uint64_t line_of(std::uint64_t set, std::uint64_t i) const;
    /// Number of the set of an address, the same for all of one set; not the same number as line_of() takes.
    [[nodiscard]] std::uint64_t set_of(std::uint64_t address) const;
    /// "modulo", "bits" or "hash".
    [[nodiscard]] std::string name() const;
    [[nodiscard]] const std::vector<std::uint64_t>& masks() const { return masks_; }

private:
    std::uint64_t sets_ = 1;
    std::uint64_t line_ = 1;
    std::uint64_t first_set_ = 0;  ///< modulo: of offset 0
    std::uint64_t span_ = 0;
    std::vector<std::uint64_t> masks_, kernel_;
};

/// Tries sets chosen by the line number modulo their number; if that does not explain which lines collide, finds by
/// linear algebra over GF(2) which combinations of address bits do not change the set. Nothing where neither explains
/// them.
[[nodiscard]] std::optional<Index> find_index(const Probe& probe, const EvictionSet& eviction_set, std::uint64_t line);

}  // namespace gputomo::deduce::cache
