// How often a scheduler issues and how many instructions at once, from instructions of several units together.
#pragma once

#include "experiments/experiment.hpp"
#include "measure/throughput/operations.hpp"

namespace gputomo::experiments {

/// Rates and times of loops repeat to about this share. A larger value accepts intervals that are not whole numbers of
/// cycles; a smaller one leaves true ones undecided.
inline constexpr double kIssueError = 0.04;
/// The most independent chains of adds that are tried in one warp. They cover latencies of up to as many issue
/// intervals.
inline constexpr int kMostIssueChains = 8;

/// What the adds of one warp and of many show of the schedulers.
struct SchedulerTimings {
    TimedOperation add;
    int warp_size = 0;
    int schedulers = 0;  ///< of an SM; 0 if not found
    double slot = 0;     ///< cycles of a scheduler for an add
    double latency = 0;  ///< cycles from an add to a dependent one
    double alone = 0;    ///< cycles between independent adds of one warp
};

/// Adds issue.issue_interval, issue.dual_issue and issue.ilp_latency.
void report_issue_interval(Context& context, const SchedulerTimings& timings, Outcome& outcome);

}  // namespace gputomo::experiments
