// CUDA GPUs behind the Device interface; the driver is opened at run time.
#pragma once

#include "device/device.hpp"

#include <memory>
#include <string>

namespace gputomo::device::cuda {

/// GPUs that the driver of this machine offers; 0 without a driver.
[[nodiscard]] int count() noexcept;
/// Marketing name of a GPU below count().
[[nodiscard]] std::string name(int index);

/// Throws DeviceError saying what is missing: the driver's library and the loader's message, or how many GPUs there are.
[[nodiscard]] std::unique_ptr<Device> open(int index);

}  // namespace gputomo::device::cuda
