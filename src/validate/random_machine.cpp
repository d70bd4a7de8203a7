#include "validate/random_machine.hpp"

#include "validate/machine_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace gputomo::validate {

void MachineMaker::identity_and_topology() {
    struct Generation {
        std::int64_t major, minor;
        std::string_view name, divergence;
    };
    static constexpr std::array kGenerations{
        Generation{1, 3, "gt200", "stack"},        Generation{2, 0, "fermi", "stack"},
        Generation{3, 5, "kepler", "stack"},       Generation{5, 2, "maxwell", "stack"},
        Generation{6, 0, "pascal", "stack"},       Generation{7, 0, "volta", "independent"},
        Generation{8, 0, "ampere", "independent"}, Generation{9, 0, "hopper", "independent"}};
    const auto generation = dice_.one_of(kGenerations);
    auto& identity = machine_.identity;
    set(identity.name, fmt::format("Random GPU {}", seed_));
    set(identity.architecture, std::string(generation.name));
    set(identity.compute_capability_major, generation.major);
    set(identity.compute_capability_minor, generation.minor);
    set(machine_.issue.divergence, std::string(generation.divergence));

    auto& topology = machine_.topology;
    const auto sms_per_tpc = dice_.between(1, 3);
    clusters_ = dice_.between(1, 16 / sms_per_tpc);
    const auto threads_per_block = dice_.chance(30) ? 512 : 1024;
    set(topology.sms, clusters_ * sms_per_tpc);
    set(topology.sms_per_tpc, sms_per_tpc);
    set(topology.warp_size, kWarp);
    set(topology.max_threads_per_block, threads_per_block);
    set(topology.max_threads_per_sm, threads_per_block * dice_.between(2, threads_per_block == 512 ? 3 : 2));
    set(topology.max_blocks_per_sm, dice_.one_of(std::array<std::int64_t, 3>{8, 16, 32}));
    set(topology.registers_per_sm, dice_.one_of(std::array<std::int64_t, 3>{16, 32, 64}) * kKiB);
    set(topology.register_allocation_unit, dice_.one_of(std::array<std::int64_t, 2>{4, 8}));
    set(topology.max_registers_per_thread, dice_.one_of(std::array<std::int64_t, 3>{63, 128, 255}));
    set(topology.thread_allocation_unit, dice_.one_of(std::array<std::int64_t, 3>{32, 64, 128}));
    set(topology.register_partitions, dice_.one_of(std::array<std::int64_t, 3>{1, 2, 4}));
}

void MachineMaker::clock() {
    auto& clock = machine_.clock;
    const auto resolution = dice_.chance(60) ? 1 : dice_.chance(70) ? 2 : 4;
    set(clock.sm_mhz, static_cast<double>(dice_.between(600, 2000)));
    set(clock.resolution, resolution);
    set(clock.read_cost, resolution * dice_.between(8 / resolution, 40 / resolution));
    // A cluster of a single SM counts as scope "sm", and a single cluster as scope "gpu".
    const auto scope = dice_.one_of(std::array<std::string_view, 3>{"sm", "tpc", "gpu"});
    const auto per_tpc = *machine_.topology.sms_per_tpc;
    const auto shared_by = scope == "sm" ? 1 : scope == "tpc" ? per_tpc : *machine_.topology.sms;
    set(clock.scope, shared_by == *machine_.topology.sms ? "gpu" : shared_by == 1 ? "sm" : "tpc");
}

void MachineMaker::launch() {
    set(machine_.launch.empty_kernel, static_cast<double>(dice_.between(2000, 10000)));
    set(machine_.launch.block_replacement, dice_.between(100, 400));
}

void MachineMaker::divergence() { set(machine_.issue.divergence_latency, dice_.between(0, 60)); }

machine::Machine random_machine(std::uint64_t seed) { return MachineMaker(seed).make(); }

}  // namespace gputomo::validate
