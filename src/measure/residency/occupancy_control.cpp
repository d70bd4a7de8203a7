#include "measure/residency/occupancy_control.hpp"

#include "units/warp.hpp"

#include <algorithm>

namespace gputomo::measure {
namespace {

using enum device::Attribute;

}  // namespace

std::optional<BlockShape> blocks_for(const device::Device& device, int warps, int max_threads_per_block) {
    const auto most_blocks = device.attribute(max_blocks_per_multiprocessor).value_or(warps);
    const int most = std::max(1, max_threads_per_block / kWarpSize);
    for (int blocks = 1; blocks <= std::min<std::int64_t>(warps, most_blocks); ++blocks)
        if (warps % blocks == 0 && warps / blocks <= most) return BlockShape{blocks, warps / blocks};
    return std::nullopt;
}

Bytes shared_for(const device::Device& device, int blocks) {
    // Allocation unit of shared memory in bytes, and a margin for what the system takes of each block.
    constexpr std::int64_t kUnit = 256, kOverhead = 512;
    const auto per_sm = device.attribute(max_shared_memory_per_multiprocessor).value_or(16384);
    const auto per_block = device.attribute(max_shared_memory_per_block).value_or(16384);
    return Bytes{std::max(kUnit, std::min(per_block - kOverhead, per_sm / (blocks + 1) / kUnit * kUnit + kOverhead))};
}

int max_warps_of(const device::Device& device) {
    return static_cast<int>(device.attribute(max_threads_per_multiprocessor).value_or(1024)) / kWarpSize;
}

}  // namespace gputomo::measure
