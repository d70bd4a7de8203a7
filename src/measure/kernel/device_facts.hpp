// Facts about a device that follow from its attributes.
#pragma once

#include "device/device.hpp"

#include <cstdint>

namespace gputomo::measure {

/// Number of SMs; 1 if the device does not state it.
[[nodiscard]] std::uint32_t sms_of(const device::Device& device);
/// SM clock in MHz just now; the rate that the device states if nothing reports the current one.
[[nodiscard]] double current_sm_mhz(const device::Device& device);
/// Bytes of a page that can be mapped at many virtual addresses; 0 if the device cannot alias memory.
[[nodiscard]] std::uint64_t aliased_page(const device::Device& device);

}  // namespace gputomo::measure
