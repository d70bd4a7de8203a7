// Which SMs read one clock register: those whose blocks, started together, read nearly the same.
#pragma once

#include "experiments/experiment.hpp"
#include "measure/kernel/clock_kernels.hpp"
#include "results/estimate.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::experiments {

/// SMs whose blocks read clocks within kSimultaneous cycles of each other, transitively.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> clock_groups(std::span<const BlockStart> starts);

/// Estimates of clock.scope and, if groups are alike, topology.sms_per_tpc (Wong 2010, IV-A, Fig. 5). Groups of unequal
/// size leave the scope undecided: current GPUs reset the counters of a whole GPC at once, and registers that started
/// together look like one.
[[nodiscard]] std::vector<results::Estimate> clock_scope_estimates(
    const std::vector<std::vector<std::uint32_t>>& groups);

}  // namespace gputomo::experiments
