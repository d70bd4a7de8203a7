// Which GPU an index of the driver stands for: its identifiers, and the same GPU in NVML.
#pragma once

#include "device/cuda/driver.hpp"
#include "device/cuda/nvml.hpp"
#include "device/device.hpp"

#include <memory>
#include <string>

namespace gputomo::device::cuda {

/// "GPU-12345678-..."; empty where the driver gives none. Throws DeviceError for an index without a GPU.
[[nodiscard]] std::string uuid_of(const Driver& driver, int index);

/// Finds GPU `index` of the driver by its identifier, or else by its place on the PCI bus. `nvml` may be null.
[[nodiscard]] NvmlGpu find_in_nvml(const Driver& driver, std::shared_ptr<const Nvml> nvml, int index);

/// `gpu` is the same one in NVML.
[[nodiscard]] Identification identification_of(const Driver& driver, const NvmlGpu& gpu, int index);

}  // namespace gputomo::device::cuda
