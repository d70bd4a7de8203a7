// Orders experiments so that each runs after those whose findings it uses.
#pragma once

#include "experiments/experiment.hpp"

#include <span>
#include <string>
#include <vector>

namespace gputomo::scan {

/// The experiments of these ids and all that they declare under `needs` and `after`, directly or through others, each
/// after those that it declares. Otherwise the order is that of `only`; the order of the catalogue does not matter.
/// Throws InputError for an id that does not exist, and std::logic_error for a cycle of declarations.
[[nodiscard]] std::vector<const experiments::Experiment*> plan(std::span<const experiments::Experiment> catalogue,
                                                               const std::vector<std::string>& only);

/// The experiments of a scan of everything with this budget, each after those that it declares, and otherwise in the
/// order of the catalogue.
[[nodiscard]] std::vector<const experiments::Experiment*> plan_of_all(
    std::span<const experiments::Experiment> catalogue, measure::Budget budget);

}  // namespace gputomo::scan
