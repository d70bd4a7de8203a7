// What branches and diverged paths cost a warp, and whether its threads are scheduled on their own.
#pragma once

#include "experiments/experiment.hpp"

namespace gputomo::experiments {

/// Adds issue.divergence_latency: what each split adds to the time of a nest of ifs.
void add_divergence_latency(Context& context, Outcome& outcome);

/// Adds issue.spin_within_warp and issue.divergence: threads that wait for others of their warp make progress only if
/// each thread is scheduled on its own.
void add_divergence_model(Context& context, Outcome& outcome);

/// Adds issue.branch_latency_taken and issue.branch_latency_untaken.
void add_branch_latencies(Context& context, Outcome& outcome);

}  // namespace gputomo::experiments
