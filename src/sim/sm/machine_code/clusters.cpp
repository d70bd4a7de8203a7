// Machine code: blocks of a cluster.
#include "sim/machine_code/clusters.hpp"

#include "sim/sm/machine_code/sass_engine.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::sim {
namespace {

/// Paths::wait's number for the barrier of a cluster, behind those of a block.
constexpr std::uint8_t kClusterBarrierNumber = machine_code::kBlockBarriers;

}  // namespace

void SassEngine::join_cluster(Block& block, machine_code::BlockState& state) {
    // The block that was resident here before has left its cluster.
    if (state.cluster != nullptr) state.cluster->blocks[state.rank] = nullptr;
    const device::Dim3 &cluster = shape_.cluster, &grid = setup_.launch.grid;
    const auto& at = block.coordinates;
    state.rank = at[0] % cluster.x + cluster.x * (at[1] % cluster.y + cluster.y * (at[2] % cluster.z));
    const std::uint64_t number =
        at[0] / cluster.x + std::uint64_t{grid.x} / cluster.x *
                                (at[1] / cluster.y + std::uint64_t{grid.y} / cluster.y * (at[2] / cluster.z));
    auto& known = cluster_of_[number];
    if (known == nullptr) {
        known = &clusters_.emplace_back();
        known->blocks.resize(cluster.count());
    }
    state.cluster = known;
    known->blocks[state.rank] = &state;
}

void SassEngine::meet_cluster(Warp& warp, const Step& step, std::size_t at, std::uint32_t taken, double now) {
    machine_code::ClusterState& cluster = *warp.state.block->cluster;
    if (step.flow == machine_code::Flow::cluster_arrive) {
        warp.cluster_phase = cluster.phase;
        cluster.arrived += static_cast<std::uint64_t>(std::popcount(taken));
        warp.paths.current()->step = at + 1;
        double& free = arrival_free_[warp.state.block->sm];
        const double arrives = std::max(now, free);
        free = arrives + units_.bulk_copies.spec.cluster_arrival;
        cluster.latest = std::max(cluster.latest, arrives);
        release_cluster(cluster, now);
        return;
    }
    if (cluster.phase > warp.cluster_phase) {
        warp.paths.current()->step = at + 1;
        warp.hold = std::max(warp.hold, cluster.met);
        return;
    }
    warp.paths.wait(machine_code::Path::State::block_barrier, kClusterBarrierNumber, 0, at + 1);
    cluster.waiting.push_back(static_cast<std::uint32_t>(&warp - of_warps_.data()));
}

void SassEngine::release_cluster(machine_code::ClusterState& cluster, double now) {
    if (!cluster.complete()) return;
    cluster.met = std::max(now, cluster.latest) + units_.bulk_copies.spec.cluster_barrier;
    for (const auto index : std::exchange(cluster.waiting, {})) {
        Warp& warp = of_warps_[index];
        warp.paths.release_block_barrier(kClusterBarrierNumber);
        warp.hold = std::max(warp.hold, cluster.met);
        wake(warp, now);
    }
}

double SassEngine::at_other_blocks(const Warp& warp, const MemoryInstruction& instruction, std::uint32_t mask,
                                   double now, double own) {
    if (instruction.space != ptx::Space::shared) return own;
    const machine_code::BlockState& state = *warp.state.block;
    constexpr std::uint64_t kSectorBytes = 32;
    std::vector<std::uint64_t>& sectors = sectors_elsewhere_;
    sectors.clear();
    for_lanes(mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const auto* const there = state.reached[l];
        if (there == &state) return;
        const std::uint64_t first = state.addresses[l] / kSectorBytes;
        for (std::uint64_t at = first; at * kSectorBytes < state.addresses[l] + instruction.bytes; ++at)
            sectors.push_back(at * machine_code::kMostClusterBlocks + there->rank);
    });
    if (sectors.empty()) return own;
    std::ranges::sort(sectors);
    const auto repeated = std::ranges::unique(sectors);
    const auto bytes = static_cast<double>((sectors.size() - repeated.size()) * kSectorBytes);
    const bool loads = instruction.kind == AccessKind::load;
    const double rate = loads ? units_.bulk_copies.spec.between_load_rate : units_.bulk_copies.spec.between_store_rate;
    double& free = between_free_[state.sm];
    free = std::max(now, free) + (rate > 0 ? bytes / rate : 0);
    return std::max(own, free) + units_.bulk_copies.spec.between;
}

}  // namespace gputomo::sim
