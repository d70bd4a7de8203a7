// Mean latency of memory under load, fitted by a + b x / (c - x): the trace and the estimates (Volkov 2016, 6.4).
#pragma once

#include "deduce/memory/contention_fit.hpp"
#include "experiments/experiment.hpp"

#include <span>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// The samples at which memory is not saturated.
[[nodiscard]] std::vector<deduce::LoadedLatency> unsaturated(std::vector<deduce::LoadedLatency> samples);
/// EXPERIMENT/contention: coefficients and their intervals, throughputs in GB/s; empty if nothing was fitted.
[[nodiscard]] results::Trace contention_trace(std::span<const deduce::LoadedLatency> samples,
                                              const std::string& experiment);
/// Adds memory.contention_base, memory.contention_slopes and memory.contention_limits, unless an earlier experiment
/// found them.
void add_contention_estimates(std::span<const deduce::LoadedLatency> samples, const std::string& experiment,
                              const Context& context, Outcome& outcome);

}  // namespace gputomo::experiments
