// The rows of the catalogue: one function per experiment file.
#pragma once

#include "experiments/experiment.hpp"

namespace gputomo::experiments {

[[nodiscard]] Experiment attributes();
[[nodiscard]] Experiment clock();
[[nodiscard]] Experiment arithmetic_latency();
[[nodiscard]] Experiment arithmetic_throughput();
[[nodiscard]] Experiment shared_latency();
[[nodiscard]] Experiment shared_throughput();
[[nodiscard]] Experiment caches();
[[nodiscard]] Experiment tlb();
[[nodiscard]] Experiment dram_bandwidth();
[[nodiscard]] Experiment launch();

}  // namespace gputomo::experiments
