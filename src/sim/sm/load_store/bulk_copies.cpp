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
            .written = {address, bytes},
            .asked = static_cast<std::uint32_t>(bytes),
            .pieces = (std::uint64_t{1} << sectors) - 1};
}

}  // namespace

BulkTimes transfer_bulk(const costs::BulkSpec& spec, const Transfer& transfer, std::uint32_t sm, double& free,
                        TensorMaps& maps, MemorySystem& memory, double now) {
    double began = std::max(now, free);
    // The unit waits for a map, and so do the copies behind this one.
    if (transfer.tensor && spec.map > 0)
        began = std::max(began, maps.try_emplace(transfer.map, began + spec.map).first->second);
    const bool writes = transfer.kind == Transfer::Kind::store || transfer.kind == Transfer::Kind::reduce;
    const bool between = transfer.kind == Transfer::Kind::between;
    const double start = writes            ? spec.store_start
                         : between         ? spec.between_start
                         : transfer.tensor ? spec.tensor_start
                                           : spec.start;
    const double rate = writes ? spec.store_bytes_per_cycle : between ? spec.between_store_rate : spec.bytes_per_cycle;
    const double earlier = transfer.kind != Transfer::Kind::load ? 0
                           : transfer.tensor                     ? spec.tensor_earlier
                                                                 : spec.earlier;
    double taken = began;
    BulkTimes times{.read = now, .done = began + start};
    for (const auto& range : transfer.ranges)
        for (std::uint64_t at = range.address; at < range.address + range.bytes;) {
            const std::uint64_t next = std::min(range.address + range.bytes, (at / kLine + 1) * kLine);
            const double there = memory.access(transaction_of(transfer.kind, at, next - at, sm), taken + start);
            times.done = std::max(times.done, there - earlier);
            taken += std::max(spec.piece, rate > 0 ? static_cast<double>(next - at) / rate : 0);
            at = next;
        }
    if (between && rate > 0) taken += static_cast<double>(transfer.bytes) / rate;
    free = std::max(taken, began + (transfer.tensor ? spec.tensor_command : spec.command));
    times.read = std::max(now, taken + start);
    times.done = std::max(times.done, times.read);
    return times;
}

}  // namespace gputomo::sim
