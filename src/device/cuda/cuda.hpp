// Real GPUs as devices: how many there are, and opening one.
#pragma once

#include "device/cuda/driver.hpp"
#include "device/cuda/nvml.hpp"
#include "device/device.hpp"

#include <memory>
#include <string>

namespace gputomo::device::cuda {

/// Which libraries to load; tests name others.
struct Libraries {
    std::string driver = kDriverLibrary;
    std::string nvml = kNvmlLibrary;
};

/// What there is on this machine. Never throws for a missing driver or GPU.
struct Presence {
    int count = 0;
    std::string reason;  ///< why there is none, as a sentence; empty when count > 0
};
[[nodiscard]] Presence presence(const Libraries& libraries = {});

/// Number of GPUs that can be opened; 0 without a driver.
[[nodiscard]] int count(const Libraries& libraries = {});

/// Marketing name of GPU `index`. Throws DeviceError as open().
[[nodiscard]] std::string name(int index, const Libraries& libraries = {});

/// GPU `index`, in the driver's order (CUDA_VISIBLE_DEVICES applies). Throws DeviceError when there is no driver (names
/// the library and the loader's message), no GPU, or no GPU of that index (says how many there are).
[[nodiscard]] std::unique_ptr<Device> open(int index, const Libraries& libraries = {});

/// The same with libraries loaded before. `nvml` may be null.
[[nodiscard]] std::unique_ptr<Device> open(int index, std::shared_ptr<const Driver> driver,
                                           std::shared_ptr<const Nvml> nvml);

}  // namespace gputomo::device::cuda
