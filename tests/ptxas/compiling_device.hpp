// A simulated GPU with a real compiler: kernels run as PTX, and their machine code from ptxas can be checked.
#pragma once

#include "device/device.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace gputomo::ptxas_check {

struct Compiler {
    std::string ptxas;                 ///< path of the program
    device::Device::PtxTarget target;  ///< PTX version and compute capability that kernels are written and compiled for
    std::filesystem::path folder;      ///< where KERNEL.ptx and KERNEL.cubin are stored
};

/// `inner` runs the kernels. load() throws DeviceError with the compiler's output if a kernel does not compile.
[[nodiscard]] std::unique_ptr<device::Device> compiling_device(std::unique_ptr<device::Device> inner,
                                                               Compiler compiler);

}  // namespace gputomo::ptxas_check
