#include "experiments/experiments.hpp"

#include <array>

namespace gputomo::experiments {

std::span<const Experiment> catalogue() {
    static const std::array rows = {
        attributes(),     clock(),             arithmetic_latency(), arithmetic_throughput(),
        shared_latency(), shared_throughput(), caches(),             tlb(),
        dram_bandwidth(), launch(),
    };
    return rows;
}

}  // namespace gputomo::experiments
