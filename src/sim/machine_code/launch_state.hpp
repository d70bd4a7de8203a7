// What a launch gives its threads: the constant banks.
#pragma once

#include "device/device.hpp"
#include "sim/machine_code/program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::sim::machine_code {

/// What a launch and its GPU say to the threads.
struct LaunchConstants {
    device::Dim3 grid, block, cluster{};
    std::span<const std::byte> parameters;
    std::uint64_t dynamic_shared = 0;  ///< bytes
    std::uint32_t sms = 0;             ///< of the GPU; 0: not known
    std::uint64_t grid_barrier = 0;    ///< address of the barrier of a cooperative launch
};

/// The kernel's constant banks with what the launch fills into bank 0: dimensions, the window of local memory and the
/// top of the stack. The parameters and the blocks of a cluster are there, too, and the address of the barrier of a
/// cooperative launch. Throws InputError where the parameters have another size than the kernel's, or where the kernel
/// asks for the number of SMs and that is not known.
[[nodiscard]] std::array<std::vector<std::uint32_t>, 8> constants_of(const MachineProgram& program,
                                                                     const LaunchConstants& launch);

}  // namespace gputomo::sim::machine_code
