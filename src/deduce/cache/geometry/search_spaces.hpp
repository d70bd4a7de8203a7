// Where an eviction set is searched for.
#pragma once

#include "deduce/cache/chase/question.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

struct SearchSpace {
    std::uint64_t window = 0;  ///< bytes of the aligned window in which the geometry is then checked
    std::uint64_t search = 0;  ///< bytes at its start in which the eviction set is searched for
};

/// The search spaces in the order of trial.
[[nodiscard]] std::vector<SearchSpace> search_spaces(const CacheQuestion& question);

}  // namespace gputomo::deduce::cache
