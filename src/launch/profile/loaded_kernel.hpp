// A kernel of a cubin, ready to be executed on the memory of a simulated GPU.
#pragma once

#include "device/cubin.hpp"
#include "device/device.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/simulator.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace gputomo::launch {

/// Places the variables of the module in the memory of `gpu`. Throws InputError as machine_code::prepare() does.
[[nodiscard]] sim::machine_code::MachineProgram load_kernel(sim::SimulatedDevice& gpu, const device::Cubin& cubin,
                                                            std::string_view kernel);

/// The parameter space of the kernel. Throws DeviceError where the arguments do not fit the parameters.
[[nodiscard]] std::vector<std::byte> parameter_space(const sim::machine_code::MachineProgram& program,
                                                     const device::Arguments& arguments);

}  // namespace gputomo::launch
