#include "costs/asynchronous_operations.hpp"
#include "machine/cache_scope.hpp"

#include <algorithm>
#include <string>

namespace gputomo::costs {
namespace {

double latency_of(const machine::Machine& machine, std::string_view operation) {
    const auto found = machine.operations.find(std::string(operation));
    return found == machine.operations.end() ? 0 : static_cast<double>(found->second.latency.value_or(0));
}

/// Cycles between two of the operation.
double interval_of(const machine::Machine& machine, std::string_view operation) {
    const auto found = machine.operations.find(std::string(operation));
    const double rate = found == machine.operations.end() ? 0 : found->second.throughput.value_or(0);
    return rate > 0 ? 1 / rate : 0;
}

}  // namespace

BulkSpec bulk_spec_of(const machine::Machine& machine) {
    BulkSpec spec;
    double l2 = 0;
    if (const auto* const cache = machine::shared_cache(machine, "global"); cache != nullptr)
        l2 = static_cast<double>(cache->latency.value_or(0));
    // What a copy takes beyond a load of its line passes before it departs. Where it takes less, it returns earlier.
    const auto beside_a_load = [&](std::string_view operation, double& start, double& earlier) {
        const double latency = latency_of(machine, operation);
        start = std::max(0.0, latency - l2);
        earlier = latency > 0 ? std::max(0.0, l2 - latency) : 0;
    };
    beside_a_load(kBulkLoad, spec.start, spec.earlier);
    beside_a_load(kTensorLoad, spec.tensor_start, spec.tensor_earlier);
    spec.map = latency_of(machine, kTensorMap);
    spec.store_start = latency_of(machine, kBulkStore);
    spec.between_start = latency_of(machine, kBulkBetween);
    spec.command = interval_of(machine, kBulkLoad);
    spec.tensor_command = interval_of(machine, kTensorLoad);
    spec.piece = interval_of(machine, kTensorRow);
    const auto shared = static_cast<double>(machine.shared.latency.value_or(0));
    spec.between = std::max(0.0, latency_of(machine, kClusterLoad) - shared);
    spec.arrival = latency_of(machine, kBarrierArrival);
    spec.signal = std::max(0.0, latency_of(machine, kClusterArrival) - spec.arrival);
    spec.check = latency_of(machine, kBarrierCheck);
    spec.checked = spec.check + shared;
    spec.cluster_barrier = latency_of(machine, kClusterBarrier);
    spec.cluster_arrival = interval_of(machine, kClusterBarrier);
    const auto rate = [&machine](const char* kind) {
        const auto access = machine.accesses.find(kind);
        return access == machine.accesses.end() ? 0 : access->second.sm_bytes_per_cycle.value_or(0);
    };
    spec.bytes_per_cycle = rate("l2_bulk");
    spec.store_bytes_per_cycle = rate("l2_bulk_store");
    spec.between_load_rate = rate("shared_cluster");
    spec.between_store_rate = rate("shared_cluster_store");
    return spec;
}

}  // namespace gputomo::costs
