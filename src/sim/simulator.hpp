// The simulated GPU: a Device built from a machine description.
#pragma once

#include "device/device.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace gputomo::sim {

/// Measurement noise to add on request, so that deduction is tested as it will be used.
struct Noise {
    double jitter_cycles = 0;     ///< standard deviation of a normal error on each memory access's latency
    double outlier_fraction = 0;  ///< share of memory accesses that take outlier_cycles more
    double outlier_cycles = 2000;
    double clock_drift = 0;  ///< relative change of the SM clock against wall time between launches
};

struct Options {
    std::string id = "sim";  ///< what Device::id() says
    std::uint64_t seed = 1;
    Noise noise;
};

/// What a launch cost, for `gputomo simulate` and the benchmarks.
struct Counters {
    std::uint64_t cycles = 0;
    std::uint64_t warp_instructions = 0;
    std::uint64_t thread_instructions = 0;
    std::uint64_t memory_transactions = 0;
    std::map<std::string, std::uint64_t> cache_hits;  ///< by cache or TLB key
    std::map<std::string, std::uint64_t> cache_misses;
    std::uint64_t dram_bytes = 0;
    std::uint64_t bank_conflict_cycles = 0;
    std::uint64_t divergent_branches = 0;
};

class SimulatedDevice : public device::Device {
public:
    /// Counters of the last finished launch.
    [[nodiscard]] virtual const Counters& counters() const = 0;
};

/// Builds the simulated GPU. Throws InputError naming the field when the description lacks what simulation needs
/// or asks for what the simulator cannot do.
[[nodiscard]] std::unique_ptr<SimulatedDevice> make_device(const machine::Machine& machine, Options options);

}  // namespace gputomo::sim
