#include "sim/exec/special_registers.hpp"

namespace gputomo::sim {

using ptx::SpecialRegister;

std::uint64_t special_value(SpecialRegister which, int lane, const LaunchFacts& launch, const WarpFacts& warp) {
    const auto& size = launch.block;
    const auto& grid = launch.grid;
    const std::uint32_t thread = warp.warp_in_block * kWarpSize + static_cast<std::uint32_t>(lane);
    const auto bit = std::uint64_t{1} << lane;
    switch (which) {
        case SpecialRegister::tid_x: return thread % size.x;
        case SpecialRegister::tid_y: return thread / size.x % size.y;
        case SpecialRegister::tid_z: return thread / size.x / size.y;
        case SpecialRegister::ntid_x: return size.x;
        case SpecialRegister::ntid_y: return size.y;
        case SpecialRegister::ntid_z: return size.z;
        case SpecialRegister::ctaid_x: return warp.block[0];
        case SpecialRegister::ctaid_y: return warp.block[1];
        case SpecialRegister::ctaid_z: return warp.block[2];
        case SpecialRegister::nctaid_x: return grid.x;
        case SpecialRegister::nctaid_y: return grid.y;
        case SpecialRegister::nctaid_z: return grid.z;
        case SpecialRegister::laneid: return static_cast<std::uint64_t>(lane);
        case SpecialRegister::warpid: return warp.slot;
        case SpecialRegister::nwarpid: return launch.warps_per_sm;
        case SpecialRegister::smid: return warp.sm;
        case SpecialRegister::nsmid: return launch.sms;
        case SpecialRegister::gridid: return 0;
        case SpecialRegister::lanemask_eq: return bit;
        case SpecialRegister::lanemask_le: return bit | (bit - 1);
        case SpecialRegister::lanemask_lt: return bit - 1;
        case SpecialRegister::lanemask_ge: return 0xFFFFFFFF & ~(bit - 1);
        case SpecialRegister::lanemask_gt: return 0xFFFFFFFF & ~(bit | (bit - 1));
        case SpecialRegister::clock: return warp.clock & 0xFFFFFFFF;
        case SpecialRegister::clock_hi: return warp.clock >> 32;
        case SpecialRegister::clock64: return warp.clock;
        case SpecialRegister::globaltimer: return warp.nanoseconds;
        case SpecialRegister::globaltimer_lo: return warp.nanoseconds & 0xFFFFFFFF;
        case SpecialRegister::globaltimer_hi: return warp.nanoseconds >> 32;
        case SpecialRegister::dynamic_smem_size: return launch.dynamic_shared;
        case SpecialRegister::total_smem_size: return launch.total_shared;
    }
    return 0;
}

}  // namespace gputomo::sim
