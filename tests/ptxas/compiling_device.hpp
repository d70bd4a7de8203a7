// The simulated GPU with a real compiler: kernels run as PTX, and the machine code that ptxas makes of them is there to
// be checked.
#pragma once

#include "device/device.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace gputomo::ptxas_check {

struct Compiler {
    std::string ptxas;                 ///< path of the program
    device::Device::PtxTarget target;  ///< what kernels are written for; compiled for the same compute capability
    std::filesystem::path folder;      ///< keeps KERNEL.ptx and KERNEL.cubin
};

/// `inner` runs the kernels. load() throws DeviceError with the compiler's output when it refuses a kernel.
[[nodiscard]] std::unique_ptr<device::Device> compiling_device(std::unique_ptr<device::Device> inner,
                                                               Compiler compiler);

}  // namespace gputomo::ptxas_check
