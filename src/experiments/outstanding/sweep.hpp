// The launches that the models of the table are fitted to: threads, loads of a thread and patterns of lines.
#pragma once

#include "experiments/outstanding/lower_bound.hpp"
#include "experiments/outstanding/setup.hpp"

#include <span>

namespace gputomo::experiments::outstanding {

/// Fills `setup.points` with launches over lines that the L2 holds.
void sweep(Setup& setup);

/// Launches over lines that no cache holds. Loads from memory take longer, so that more of them are issued before the
/// first one returns.
[[nodiscard]] Launches launches_from_memory(Setup& setup);

/// Launches of the sweep beside what the model predicts for them.
[[nodiscard]] results::Trace surface_trace(std::span<const deduce::OutstandingPoint> points,
                                           const deduce::OutstandingModel& model);
/// Launches of the sweep in which each thread loads lines of its own (Lashgar 2015, 3.1).
[[nodiscard]] results::Trace thread_latency_trace(std::span<const deduce::OutstandingPoint> points);

}  // namespace gputomo::experiments::outstanding
