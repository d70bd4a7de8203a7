#include "sim/sm/load_store/bulk_copies.hpp"

#include <algorithm>

namespace gputomo::sim {
namespace {

using machine_code::Transfer;

/// Bytes of a line of the L2 on all GPUs that copy bulk data, and of its sectors.
constexpr std::uint64_t kLine = 128, kSector = 32;

AccessKind access_of(Transfer::Kind kind) {
    switch (kind) {
        case Transfer::Kind::store: return AccessKind::store;
        case Transfer::Kind::reduce: return AccessKind::atomic;
        default: return AccessKind::load;
    }
}

/// The transaction of a piece that lies in one line.
Transaction transaction_of(Transfer::Kind kind, std::uint64_t address, std::uint64_t bytes, std::uint32_t sm) {
    const std::uint64_t first = address / kSector * kSector;
    const std::uint64_t end = (address + bytes + kSector - 1) / kSector * kSector;
    const auto sectors = static_cast<std::uint32_t>((end - first) / kSector);
    return {.address = first,
            .bytes = static_cast<std::uint32_t>(end - first),
            .sm = sm,
            .path = PathKind::global,
            .kind = access_of(kind),
            .hint = CacheHint::l2_only,
            .partial = bytes < end - first,
            .asked = static_cast<std::uint32_t>(bytes),
            .pieces = (std::uint64_t{1} << sectors) - 1};
}

double latency_of(const machine::Machine& machine, const std::string& operation) {
    const auto found = machine.operations.find(operation);
    return found == machine.operations.end() ? 0 : static_cast<double>(found->second.latency.value_or(0));
}

/// Cycles between two of the operation.
double interval_of(const machine::Machine& machine, const std::string& operation) {
    const auto found = machine.operations.find(operation);
    const double rate = found == machine.operations.end() ? 0 : found->second.throughput.value_or(0);
    return rate > 0 ? 1 / rate : 0;
}

}  // namespace

BulkSpec bulk_spec_of(const machine::Machine& machine) {
    BulkSpec spec;
    double l2 = 0;
    if (const auto cache = machine.caches.find("l2"); cache != machine.caches.end())
        l2 = static_cast<double>(cache->second.latency.value_or(0));
    // What a copy takes beyond a load of its line passes before it departs.
    spec.start = std::max(0.0, latency_of(machine, kBulkLoad) - l2);
    spec.tensor_start = std::max(0.0, latency_of(machine, kTensorLoad) - l2);
    spec.command = interval_of(machine, kBulkLoad);
    spec.tensor_command = interval_of(machine, kTensorLoad);
    spec.piece = interval_of(machine, kTensorLine);
    spec.between = latency_of(machine, kClusterLoad) / 2;
    if (const auto access = machine.accesses.find("l2_bulk"); access != machine.accesses.end())
        spec.bytes_per_cycle = access->second.sm_bytes_per_cycle.value_or(0);
    return spec;
}

BulkTimes transfer_bulk(const BulkSpec& spec, const Transfer& transfer, std::uint32_t sm, double& free,
                        MemorySystem& memory, double now) {
    const double began = std::max(now, free);
    const double start = transfer.tensor ? spec.tensor_start : spec.start;
    double taken = began;
    BulkTimes times{.read = now, .done = began + start};
    for (const auto& range : transfer.ranges)
        for (std::uint64_t at = range.address; at < range.address + range.bytes;) {
            const std::uint64_t next = std::min(range.address + range.bytes, (at / kLine + 1) * kLine);
            const double there = memory.access(transaction_of(transfer.kind, at, next - at, sm), taken + start);
            times.done = std::max(times.done, there);
            const double moves = spec.bytes_per_cycle > 0 ? static_cast<double>(next - at) / spec.bytes_per_cycle : 0;
            taken += std::max(spec.piece, moves);
            at = next;
        }
    if (transfer.kind == Transfer::Kind::between && spec.bytes_per_cycle > 0)
        taken += static_cast<double>(transfer.bytes) / spec.bytes_per_cycle;
    free = std::max(taken, began + (transfer.tensor ? spec.tensor_command : spec.command));
    times.read = std::max(now, taken + start);
    times.done = std::max(times.done, times.read) + spec.finish;
    if (transfer.kind == Transfer::Kind::between) times.done += spec.between;
    return times;
}

}  // namespace gputomo::sim
