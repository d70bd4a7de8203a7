// Lines that share a set, found without knowing how the set is chosen.
#pragma once

#include "deduce/cache/probe.hpp"

#include <optional>

namespace gputomo::deduce::cache {

/// Lines of one set, one more than it has ways: without any one of them the others stay. The first is the one whose
/// offset divides by the largest power of two.
struct EvictionSet {
    Offsets lines;
    [[nodiscard]] std::uint64_t ways() const { return lines.size() - 1; }
};

/// Group testing: lines far apart, in ever larger numbers, until some of them don't stay; then those are left out that
/// don't matter (QuickXplain; Junker 2004). Works for any choice of the set, a hash of the address included. Nothing
/// where all stay.
[[nodiscard]] std::optional<EvictionSet> find_eviction_set(const Probe& probe, std::uint64_t step);

/// The same with lines at random places, for sets over which no lines any distance apart are spread unevenly: of random
/// ones, some set of a few ways soon has too many. Nothing where `most` lines stay.
[[nodiscard]] std::optional<EvictionSet> find_eviction_set_at_random(const Probe& probe, std::uint64_t step,
                                                                     std::uint64_t most);

/// The same in an array just too large to stay, where it is unequal sets over which lines far apart are spread.
/// `fitting`: bytes that probably stay.
[[nodiscard]] std::optional<EvictionSet> find_eviction_set_in_array(const Probe& probe, std::uint64_t step,
                                                                    std::uint64_t fitting);

/// The fewest of these lines that still overflow their set: a minimal eviction set. All of them together overflow.
[[nodiscard]] Offsets minimal_eviction_set(const Probe& probe, const Offsets& lines);

}  // namespace gputomo::deduce::cache
