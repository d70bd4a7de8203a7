// Compiles PTX to machine code through the driver's linker interface, which returns the cubin.
#pragma once

#include "device/cuda/session.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::device::cuda {

/// Compiles for the session's GPU and returns the cubin. Throws DeviceError with the compiler's log and the PTX lines
/// that the log names.
[[nodiscard]] std::vector<std::byte> compile(Session& session, std::string_view ptx);

/// The lines of `ptx` that a compiler log names ("line 12"), each as "  line 12: TEXT", limited to the first few.
[[nodiscard]] std::string quote_lines(std::string_view log, std::string_view ptx);

}  // namespace gputomo::device::cuda
