// Which design of table tracks the SM's outstanding loads, and how many entries it has.
#pragma once

#include "deduce/in_flight/outstanding_fit.hpp"
#include "experiments/outstanding/setup.hpp"

#include <vector>

namespace gputomo::experiments::outstanding {

/// Reports outstanding_design with outstanding_entries and outstanding_merge, or with outstanding_at_least where no
/// table explains the launches. `fits` are the models of the sweep, best first.
void report_table(Setup& setup, const std::vector<deduce::OutstandingFit>& fits);

/// Reports outstanding_merge: how many requests for one line its entry takes in.
void find_merging(Setup& setup);

}  // namespace gputomo::experiments::outstanding
