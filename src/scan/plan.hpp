// The order in which experiments run.
#pragma once

#include "experiments/experiment.hpp"

#include <span>
#include <string>
#include <vector>

namespace gputomo::scan {

/// The experiments of these ids and what they use, in an order in which each comes after what it uses.
/// Throws InputError naming an id that does not exist, std::logic_error for needs that go round in a circle.
[[nodiscard]] std::vector<const experiments::Experiment*> plan(std::span<const experiments::Experiment> catalogue,
                                                               const std::vector<std::string>& only);

/// Those of a scan of everything, in such an order.
[[nodiscard]] std::vector<const experiments::Experiment*> plan_of_all(
    std::span<const experiments::Experiment> catalogue, bool simulated);

}  // namespace gputomo::scan
