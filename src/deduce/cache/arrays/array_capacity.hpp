// The capacity of a cache: the largest contiguous array that stays resident.
#pragma once

#include "deduce/cache/arrays/residency.hpp"

#include <cstdint>
#include <string>

namespace gputomo::deduce::cache {

/// For arrays of more loads than this, conflicting lines are searched first: that takes far fewer loads than a
/// bisection of the size.
inline constexpr std::uint64_t kManyLoads = 4096;

/// What contiguous arrays show about the capacity.
struct Bracket {
    std::uint64_t fits = 0;       ///< bytes of the largest array that was resident; 0: none was
    std::uint64_t overflows = 0;  ///< bytes of the smallest array that was not, or that the question names
    std::uint64_t overflow = 0;   ///< bytes of the smallest array that was not, if it is one step larger; else 0
};

/// Bisects the size of arrays in steps of `step` bytes. Returns why the capacity was not found to the step; empty where
/// it was. `capacity` always holds what is known, also where the probe runs out of loads. From then on `residency` is
/// patient.
[[nodiscard]] std::string find_array_capacity(Residency& residency, const CacheQuestion& question, std::uint64_t step,
                                              Bracket& capacity);

}  // namespace gputomo::deduce::cache
