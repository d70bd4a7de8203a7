// Mean latency of memory under load as a + b x / (c - x): trace and leaves of the fit (Volkov 2016, 6.4).
#pragma once

#include "deduce/contention_fit.hpp"
#include "experiments/experiment.hpp"

#include <span>
#include <string>

namespace gputomo::experiments {

/// Adds the trace EXPERIMENT/contention and, unless an experiment before found them, memory.contention_base, .contention_slopes and .contention_limits.
/// Throughputs in GB/s. The trace is empty where nothing was fitted.
void add_contention(std::span<const deduce::LoadedLatency> samples, const std::string& experiment, const Context& context, Outcome& outcome);

}  // namespace gputomo::experiments
