// Measured surfaces of throughput with the models of latency hiding over them, for a report.
#pragma once

#include "experiments/mix/mix_surface.hpp"
#include "machine/machine.hpp"
#include "report/modelled.hpp"

#include <vector>

namespace gputomo::cli {

/// What the surfaces have with one chain in a warp. The models' parameters are the machine's; where it lacks one, the
/// mixes come without models.
[[nodiscard]] report::Modelled modelled(const std::vector<experiments::MixSurface>& surfaces,
                                        const machine::Machine& machine);

}  // namespace gputomo::cli
