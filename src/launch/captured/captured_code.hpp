// The code, parameters and variables of a captured launch.
#pragma once

#include "capture/capture.hpp"
#include "device/cubin.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::launch {

/// Throws InputError for a launch that starts a graph.
[[nodiscard]] const capture::Shape& shape_of(const capture::Launch& launch);

/// The cubin of the launch's kernel. Throws InputError where there is none.
[[nodiscard]] std::string code_of(const capture::Capture& capture, const capture::Shape& shape);

/// Throws InputError where a launch has no memory, or asks for what is not simulated.
void check_replayable(const capture::Capture& capture, const capture::Launch& launch);

/// The `bytes` bytes of the kernel's parameter space, with the values of the launch.
[[nodiscard]] std::vector<std::byte> parameters_of(const capture::Shape& shape, std::string_view kernel,
                                                   std::uint64_t bytes);

/// The number of a section with constants of the whole module, 3 of ".nv.constant3"; nullopt for others.
[[nodiscard]] std::optional<std::size_t> constant_bank(std::string_view section);

/// A symbol that lies in the file.
[[nodiscard]] std::optional<device::Cubin::Symbol> symbol_of(const device::Cubin& cubin, std::string_view name);

/// The name of a buffer in messages: "the device buffer at 0x7f00", "the variable 'table'".
[[nodiscard]] std::string name_of(const capture::Buffer& buffer);

}  // namespace gputomo::launch
