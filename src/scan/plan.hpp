// The order in which experiments run.
#pragma once

#include "experiments/experiment.hpp"

#include <span>
#include <string>
#include <vector>

namespace gputomo::scan {

/// Experiments in an order in which each comes after what it uses. With `only`, those and what they use; without, all but those on request.
/// Throws InputError naming an id that does not exist, std::logic_error for needs that go round in a circle.
[[nodiscard]] std::vector<const experiments::Experiment*> plan(std::span<const experiments::Experiment> catalogue, const std::vector<std::string>& only = {});

}  // namespace gputomo::scan
