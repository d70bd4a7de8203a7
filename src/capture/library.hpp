// The library that records a program, as it is built into the executable.
#pragma once

#include <string_view>

namespace gputomo::capture {

/// The bytes of libgputomo_capture.so.
[[nodiscard]] std::string_view recording_library();

}  // namespace gputomo::capture
