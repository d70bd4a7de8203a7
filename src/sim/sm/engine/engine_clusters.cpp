// Clusters: blocks that are on the GPU at once, on SMs of one GPC.
#include "machine/gpc_size.hpp"
#include "sim/sm/engine/engine.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {

void Engine::check_clusters() const {
    const device::Dim3 &cluster = shape_.cluster, &grid = setup_.launch.grid;
    if (cluster.count() <= 1) return;
    if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0 || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 ||
        grid.z % cluster.z != 0)
        throw DeviceError(
            fmt::format("launch of {}: a grid of {}x{}x{} blocks in clusters of {}x{}x{}; expected a multiple of these",
                        shape_.name, grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
    constexpr std::uint64_t kMostBlocks = 16;
    if (cluster.count() > kMostBlocks)
        throw DeviceError(fmt::format("launch of {}: clusters of {} blocks; expected {} at most", shape_.name,
                                      cluster.count(), kMostBlocks));
}

std::uint64_t Engine::block_of_start(std::uint64_t start) const {
    const device::Dim3 &cluster = shape_.cluster, &grid = setup_.launch.grid;
    if (cluster.count() <= 1) return start;
    const std::uint64_t number = start / cluster.count(), rank = start % cluster.count();
    const std::uint64_t across = grid.x / cluster.x, down = grid.y / cluster.y;
    const std::uint64_t x = number % across * cluster.x + rank % cluster.x;
    const std::uint64_t y = number / across % down * cluster.y + rank / cluster.x % cluster.y;
    const std::uint64_t z = number / across / down * cluster.z + rank / cluster.x / cluster.y;
    return x + grid.x * (y + grid.y * z);
}

void Engine::place_clusters(double now) {
    while (units_.block_launch.next < units_.block_launch_spec.blocks) {
        const auto sms = room_for_cluster();
        if (sms.empty()) {
            if (live_warps_ > 0) return;
            throw DeviceError(fmt::format("launch of {}: no GPC has room for a cluster of {} blocks", shape_.name,
                                          shape_.cluster.count()));
        }
        for (const auto sm : sms) place_block(sm, now);
    }
}

/// The SMs for the blocks of the next cluster, in the GPC with the fewest resident blocks; empty where none has room.
std::vector<std::uint32_t> Engine::room_for_cluster() const {
    const auto of_gpc =
        static_cast<std::uint32_t>(setup_.machine.topology.sms_per_gpc.value_or(machine::kAssumedSmsPerGpc));
    const auto count = static_cast<std::uint32_t>(units_.block_launch.sms.size());
    std::vector<std::uint32_t> best;
    std::uint64_t least = 0;
    for (std::uint32_t first = 0; first < count; first += of_gpc) {
        const std::uint32_t end = std::min(count, first + of_gpc);
        std::vector<std::uint64_t> resident;
        std::uint64_t all = 0;
        for (std::uint32_t sm = first; sm < end; ++sm) {
            resident.push_back(units_.block_launch.sms[sm].resident);
            all += units_.block_launch.sms[sm].resident;
        }
        std::vector<std::uint32_t> chosen;
        while (chosen.size() < shape_.cluster.count()) {
            const auto place = std::ranges::min_element(resident);
            if (*place >= units_.block_launch_spec.blocks_per_sm) break;
            ++*place;
            chosen.push_back(first + static_cast<std::uint32_t>(place - resident.begin()));
        }
        if (chosen.size() < shape_.cluster.count() || (!best.empty() && all >= least)) continue;
        best = std::move(chosen);
        least = all;
    }
    return best;
}

}  // namespace gputomo::sim
