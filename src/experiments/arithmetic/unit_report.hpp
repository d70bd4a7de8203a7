// What a map of units says of each operation: its units, its machine instructions, and lanes of units that are new.
#pragma once

#include "deduce/pipeline/functional_units.hpp"
#include "experiments/arithmetic/unit_pairs.hpp"

#include <span>

namespace gputomo::experiments {

/// Adds estimates of operations[*].units, operations[*].instructions, pipelines.*.lanes and pipelines.*.latency. The
/// map numbers operations as `operations` does.
void report_units(const Context& context, std::span<const RatedOperation> operations, const deduce::UnitMap& map,
                  Outcome& outcome);

}  // namespace gputomo::experiments
