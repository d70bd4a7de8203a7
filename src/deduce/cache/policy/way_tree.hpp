// Learns which ways share the branches of a pseudo-LRU tree from the ways that a set evicted.
#pragma once

#include "deduce/cache/policy/eviction_trace.hpp"
#include "deduce/cache/policy/policy_model.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

/// Uses the steps of loads `from` to `end`. A node's victim is never in the half that was used last, which splits its
/// ways in two. Where the victims do not show all splits, the tree over the next power of two leaves is fitted whose
/// order of ways explains most of them. A tree of the root alone means that nothing was learnt.
[[nodiscard]] WayTree learn_tree(std::vector<Step> steps, std::size_t from, std::size_t end, std::uint32_t ways);

}  // namespace gputomo::deduce::cache
