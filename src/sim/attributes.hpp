// What the driver of a simulated GPU says about it: the attributes that cuDeviceGetAttribute gives, and nothing else.
#pragma once

#include "device/device.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <optional>

namespace gputomo::sim {

/// Bytes of device memory; a default where the description does not say. Throws InputError for a wrong leaf.
[[nodiscard]] std::uint64_t memory_bytes(const machine::Machine& machine);

/// Whether the GPU has virtual memory management (from compute capability 6.0 on).
[[nodiscard]] bool has_virtual_mapping(const machine::Machine& machine);

/// The attribute's value; nullopt if the description does not say, or if drivers of such a GPU did not know it.
[[nodiscard]] std::optional<std::int64_t> attribute_of(const machine::Machine& machine, device::Attribute attribute);

}  // namespace gputomo::sim
