// What a thread reads from PTX's special registers.
#pragma once

#include "device/device.hpp"
#include "sim/exec/program.hpp"

#include <array>
#include <cstdint>

namespace gputomo::sim {

/// Values of special registers that are the same for all warps of a launch.
struct LaunchFacts {
    device::Dim3 block;
    device::Dim3 grid;
    std::uint64_t sms = 0;
    std::uint64_t warps_per_sm = 0;    ///< most warps that fit an SM
    std::uint64_t dynamic_shared = 0;  ///< bytes of a block
    std::uint64_t total_shared = 0;    ///< bytes of a block, static and dynamic
};

/// Values of special registers that depend on the warp, and on the time at which it reads them.
struct WarpFacts {
    std::array<std::uint32_t, 3> block{};  ///< coordinates in the grid
    std::uint32_t warp_in_block = 0;
    std::uint32_t slot = 0;  ///< of its SM
    std::uint32_t sm = 0;
    std::uint64_t clock = 0;        ///< cycles
    std::uint64_t nanoseconds = 0;  ///< of %globaltimer
};

[[nodiscard]] std::uint64_t special_value(ptx::SpecialRegister which, int lane, const LaunchFacts& launch,
                                          const WarpFacts& warp);

[[nodiscard]] constexpr bool reads_clock(ptx::SpecialRegister which) {
    return which == ptx::SpecialRegister::clock || which == ptx::SpecialRegister::clock64 ||
           which == ptx::SpecialRegister::clock_hi;
}

}  // namespace gputomo::sim
