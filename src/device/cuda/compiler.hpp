// PTX to machine code through the driver's linker interface, which hands the cubin back.
#pragma once

#include "device/cuda/session.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::device::cuda {

/// The cubin for the session's GPU. Throws DeviceError with the compiler's log and the PTX lines that the log names.
[[nodiscard]] std::vector<std::byte> compile(Session& session, std::string_view ptx);

/// The lines of `ptx` that a compiler log names ("line 12"), each as "  line 12: TEXT", at most a handful.
[[nodiscard]] std::string quote_lines(std::string_view log, std::string_view ptx);

}  // namespace gputomo::device::cuda
