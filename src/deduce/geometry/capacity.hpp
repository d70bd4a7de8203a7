// How large an array a level serves, where its sets cannot be explained.
#pragma once

#include "deduce/geometry/probe.hpp"

namespace gputomo::deduce::geometry {

struct Bracket {
    std::uint64_t fits = 0;       ///< bytes of the largest contiguous array that was seen to stay
    std::uint64_t overflows = 0;  ///< bytes of the smallest that was not, or that the question names
};
[[nodiscard]] Bracket bracket_capacity(Probe& probe, std::uint64_t step);

}  // namespace gputomo::deduce::geometry
