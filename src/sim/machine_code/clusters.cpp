#include "sim/machine_code/clusters.hpp"

#include "sim/exec/lane_fault.hpp"

#include <fmt/format.h>

namespace gputomo::sim::machine_code {

SharedPlace shared_place(Warp& warp, std::uint64_t address, int lane) {
    const std::uint64_t rank = address / kWindowSize;
    BlockState& own = *warp.block;
    SharedPlace place{.block = nullptr, .offset = address % kWindowSize};
    if (own.cluster == nullptr)
        place.block = rank == 0 ? &own : nullptr;
    else if (rank < own.cluster->blocks.size())
        place.block = own.cluster->blocks[rank];
    if (place.block == nullptr)
        throw LaneFault(lane,
                        fmt::format("illegal address 0x{:x}: the cluster has no block of rank {}", address, rank));
    return place;
}

std::byte* bytes_of(const SharedPlace& place, std::uint64_t bytes, int lane) {
    if (place.offset + bytes > place.block->shared.size())
        throw LaneFault(lane, fmt::format("illegal address 0x{:x} of shared memory ({} bytes)", place.offset, bytes));
    return place.block->shared.data() + place.offset;
}

Execute cluster_execution(Step&) { return nullptr; }

}  // namespace gputomo::sim::machine_code
