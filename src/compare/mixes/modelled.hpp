// Measured surfaces of throughput with the models of latency hiding over them, for a report.
#pragma once

#include "machine/machine.hpp"
#include "measure/mix/mix_surface.hpp"
#include "report/modelled.hpp"

#include <vector>

namespace gputomo::compare {

/// What the surfaces have with one chain in a warp. The models' parameters are the machine's; where it lacks one, the
/// mixes come without models.
[[nodiscard]] report::Modelled modelled(const std::vector<measure::MixSurface>& surfaces,
                                        const machine::Machine& machine);

}  // namespace gputomo::compare
