// Lists and opens real GPUs.
#pragma once

#include "device/cuda/driver.hpp"
#include "device/cuda/nvml.hpp"
#include "device/device.hpp"

#include <memory>
#include <string>

namespace gputomo::device::cuda {

/// The libraries to load; tests replace them.
struct Libraries {
    std::string driver = kDriverLibrary;
    std::string nvml = kNvmlLibrary;
};

/// The GPUs of this machine.
struct Presence {
    int count = 0;
    std::string reason;  ///< why there is none, as a sentence; empty if count > 0
};
/// Does not throw for a missing driver or GPU.
[[nodiscard]] Presence presence(const Libraries& libraries = {});

/// Number of GPUs that can be opened; 0 without a driver.
[[nodiscard]] int count(const Libraries& libraries = {});

/// Marketing name of GPU `index`. Throws DeviceError as open().
[[nodiscard]] std::string name(int index, const Libraries& libraries = {});

/// What the driver and NVML say of a GPU without a context on it.
struct Overview {
    std::string name;  ///< "NVIDIA H200"
    std::string uuid;  ///< empty where it has none
    Identification identification;
    GpuCondition condition;
};
/// Throws DeviceError as open().
[[nodiscard]] Overview overview(int index, const Libraries& libraries = {});

/// Opens GPU `index` in the driver's order (CUDA_VISIBLE_DEVICES applies). Throws DeviceError if there is no driver
/// (with the library and the loader's message), no GPU, or no GPU with that index (with the number of GPUs).
[[nodiscard]] std::unique_ptr<Device> open(int index, const Libraries& libraries = {});

/// Opens GPU `index` with libraries that are already loaded. `nvml` may be null.
[[nodiscard]] std::unique_ptr<Device> open(int index, std::shared_ptr<const Driver> driver,
                                           std::shared_ptr<const Nvml> nvml);

}  // namespace gputomo::device::cuda
