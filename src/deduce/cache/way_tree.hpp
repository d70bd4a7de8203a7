// Which ways share the branches of a pseudo-LRU tree, learnt from what a set evicted.
#pragma once

#include "deduce/cache/eviction_trace.hpp"
#include "deduce/cache/policy_model.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

/// From the steps of loads `from` to `end`. A node's victim is never in the half that was used last, which splits its
/// ways in two. Where they do not show all splits, the order of the ways is looked for in which a tree over the next
/// power of two leaves explains most of them. A tree of the root alone: nothing is known.
[[nodiscard]] WayTree learn_tree(std::vector<Step> steps, std::size_t from, std::size_t end, std::uint32_t ways);

}  // namespace gputomo::deduce::cache
