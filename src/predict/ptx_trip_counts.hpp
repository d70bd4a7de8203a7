// Trip counts of loops that PTX spells out: a counter that starts, steps and ends at literals.
#pragma once

#include "ptx/ir.hpp"

#include <cstddef>
#include <map>

namespace gputomo::predict {

/// By the first instruction of the loop, for loops whose conditional backward branch tests such a counter.
[[nodiscard]] std::map<std::size_t, double> trip_counts(const ptx::Kernel& kernel);

}  // namespace gputomo::predict
