// Thread-latency plots for the report: those of the paper, and other accesses.
#pragma once

#include "experiments/outstanding/setup.hpp"

namespace gputomo::experiments::outstanding {

/// The plots of the paper: 2 to 1024 threads in steps of 2 (Lashgar 2015, 3.1), with no more loads than a warp can have
/// in flight (section 4).
void plot_paper(Setup& setup);

/// Stores, atomics, loads past the L1 and other patterns; where hundreds of loads can be in flight, also variations
/// that show what limits them.
void plot_other_accesses(Setup& setup);

}  // namespace gputomo::experiments::outstanding
