// Finds trip counts that PTX spells out: those of loops whose counter starts, steps and ends at literals.
#pragma once

#include "ptx/ir.hpp"

#include <cstddef>
#include <map>

namespace gputomo::predict {

/// Trip counts by the index of a loop's first instruction. Holds only loops whose conditional backward branch tests a
/// counter with literals.
[[nodiscard]] std::map<std::size_t, double> trip_counts(const ptx::Kernel& kernel);

}  // namespace gputomo::predict
