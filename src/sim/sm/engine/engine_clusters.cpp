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
        const double start = std::max(now, units_.block_launch.next_start);
        for (const auto sm : sms) place_block(sm, now);
        // The blocks of a cluster start together.
        if (units_.block_launch_spec.cluster_interval > 0)
            units_.block_launch.next_start = start + units_.block_launch_spec.cluster_interval;
    }
}

/// The groups of SMs that clusters do not leave. SMs beyond those that the description names are in none.
std::vector<std::uint32_t> Engine::cluster_groups() const {
    const auto& topology = setup_.machine.topology;
    std::vector<std::uint32_t> groups;
    for (const auto sms : topology.cluster_sms.value_or({})) groups.push_back(static_cast<std::uint32_t>(sms));
    if (!groups.empty()) return groups;
    const auto of_gpc = static_cast<std::uint32_t>(topology.sms_per_gpc.value_or(machine::kAssumedSmsPerGpc));
    for (auto left = static_cast<std::uint32_t>(units_.block_launch.sms.size()); left > 0; left -= groups.back())
        groups.push_back(std::min(left, of_gpc));
    return groups;
}

/// The SMs for the blocks of the next cluster, in the group with the fewest resident blocks; empty where none has room.
/// A group with fewer SMs than the cluster has blocks takes none, however many blocks an SM holds.
std::vector<std::uint32_t> Engine::room_for_cluster() const {
    std::vector<std::uint32_t> best;
    double least = 0;
    std::uint32_t end = 0;
    for (const std::uint32_t group : cluster_groups_) {
        const std::uint32_t first = end;
        end = std::min(first + group, static_cast<std::uint32_t>(units_.block_launch.sms.size()));
        if (end - first < shape_.cluster.count()) continue;
        std::vector<std::uint64_t> resident;
        double all = 0;
        for (std::uint32_t sm = first; sm < end; ++sm) {
            resident.push_back(units_.block_launch.sms[sm].room.blocks());
            all += units_.block_launch.sms[sm].room.blocks();
        }
        std::vector<std::uint32_t> chosen;
        while (chosen.size() < shape_.cluster.count()) {
            const auto place = std::ranges::min_element(resident);
            if (*place >= units_.block_launch_spec.blocks_per_sm) break;
            ++*place;
            chosen.push_back(first + static_cast<std::uint32_t>(place - resident.begin()));
        }
        all /= end - first;
        if (chosen.size() < shape_.cluster.count() || (!best.empty() && all >= least)) continue;
        best = std::move(chosen);
        least = all;
    }
    return best;
}

}  // namespace gputomo::sim
