// Measured throughput surfaces with models of latency hiding drawn over them, for the report of one GPU.
#pragma once

#include "machine/machine.hpp"
#include "measure/mix/mix_surface.hpp"
#include "report/modelled.hpp"

#include <vector>

namespace gputomo::compare {

/// Returns the surfaces' mixes with one dependence chain per warp. The models take their parameters from `machine`;
/// where it lacks one, the mixes come without models and say which parameter is missing.
[[nodiscard]] report::Modelled modelled(const std::vector<measure::MixSurface>& surfaces,
                                        const machine::Machine& machine);

}  // namespace gputomo::compare
