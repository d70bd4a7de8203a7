// A launch that was captured from a program.
#pragma once

#include "capture/capture.hpp"
#include "launch/launch.hpp"

#include <cstdint>
#include <string>

namespace gputomo::launch {

/// Simulated GPUs execute machine code alone; a driver also compiles PTX.
enum class CodeKind : std::uint8_t { machine_code, any };

/// Reads memory from the capture's folder when it is placed, so that `capture` has to outlive the result. Throws
/// InputError that names what the capture lacks: a launch of a kernel, machine code, parameters, memory.
[[nodiscard]] Launch captured_launch(const capture::Capture& capture, const capture::Launch& launch,
                                     CodeKind kind = CodeKind::machine_code);

/// What the reduction of a launch could not prove or changed (docs/capture.md); empty where there is nothing.
[[nodiscard]] std::string lost_by_reduction(const capture::Launch& launch);

}  // namespace gputomo::launch
