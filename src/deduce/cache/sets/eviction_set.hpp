// Finds lines of one set without knowing how the set is chosen.
#pragma once

#include "deduce/cache/chase/probe.hpp"

#include <optional>

namespace gputomo::deduce::cache {

/// A minimal eviction set: one line more than the set has ways, so that without any one of them the others are
/// resident. The first line is the one whose offset is a multiple of the largest power of two.
struct EvictionSet {
    Offsets lines;
    [[nodiscard]] std::uint64_t ways() const { return lines.size() - 1; }
};

/// Group testing: adds lines at equal distances until they overflow a set, then removes all lines that the overflow
/// does not need (QuickXplain; Junker 2004). It works for any index, a hash of the address included. `step`: bytes, the
/// smallest distance of two lines. Returns nullopt if all lines stay resident.
[[nodiscard]] std::optional<EvictionSet> find_eviction_set(const Probe& probe, std::uint64_t step);

/// As find_eviction_set() with lines at random places, for an index that spreads lines at equal distances evenly over
/// the sets. Among random lines, some set of a few ways soon has too many.
/// Returns nullopt if `most` lines stay resident.
[[nodiscard]] std::optional<EvictionSet> find_eviction_set_at_random(const Probe& probe, std::uint64_t step,
                                                                     std::uint64_t most);

/// As find_eviction_set() in a contiguous array that just overflows, for unequal sets over which distant lines are
/// spread. `fitting`: bytes that are probably resident.
[[nodiscard]] std::optional<EvictionSet> find_eviction_set_in_array(const Probe& probe, std::uint64_t step,
                                                                    std::uint64_t fitting);

/// The fewest of these lines that still overflow their set: a minimal eviction set. All of them together overflow.
[[nodiscard]] Offsets minimal_eviction_set(const Probe& probe, const Offsets& lines);

}  // namespace gputomo::deduce::cache
