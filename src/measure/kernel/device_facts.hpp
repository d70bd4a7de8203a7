// What experiments ask of a device besides its attributes as they are.
#pragma once

#include "device/device.hpp"

#include <cstdint>

namespace gputomo::measure {

/// Multiprocessors; 1 where the device does not say.
[[nodiscard]] std::uint32_t sms_of(const device::Device& device);
/// MHz of the SMs just now; where nothing reports that, the rate that the device names.
[[nodiscard]] double current_sm_mhz(const device::Device& device);
/// Bytes of a page that can be mapped at many virtual addresses; 0 where the device cannot alias memory.
[[nodiscard]] std::uint64_t aliased_page(const device::Device& device);

}  // namespace gputomo::measure
