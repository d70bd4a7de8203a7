// The rows of the catalogue: one function per experiment file.
#pragma once

#include "experiments/experiment.hpp"

namespace gputomo::experiments {

[[nodiscard]] Experiment attributes_experiment();
[[nodiscard]] Experiment clock_experiment();
[[nodiscard]] Experiment arithmetic_latency_experiment();
[[nodiscard]] Experiment arithmetic_throughput_experiment();
[[nodiscard]] Experiment shared_latency_experiment();
[[nodiscard]] Experiment shared_throughput_experiment();
[[nodiscard]] Experiment caches_experiment();
[[nodiscard]] Experiment tlb_experiment();
[[nodiscard]] Experiment dram_bandwidth_experiment();
[[nodiscard]] Experiment launch_experiment();
[[nodiscard]] Experiment outstanding_experiment();

}  // namespace gputomo::experiments
