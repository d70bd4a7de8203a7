// Mean latency of memory under load as a + b x / (c - x): trace and leaves of the fit (Volkov 2016, 6.4).
#pragma once

#include "deduce/memory/contention_fit.hpp"
#include "experiments/experiment.hpp"

#include <span>
#include <string>

namespace gputomo::experiments {

/// EXPERIMENT/contention: coefficients and their intervals, throughputs in GB/s; empty where nothing was fitted.
[[nodiscard]] results::Trace contention_trace(std::span<const deduce::LoadedLatency> samples,
                                              const std::string& experiment);
/// Adds, unless an experiment before found them, memory.contention_base, .contention_slopes and .contention_limits.
void add_contention_estimates(std::span<const deduce::LoadedLatency> samples, const std::string& experiment,
                              const Context& context, Outcome& outcome);

}  // namespace gputomo::experiments
