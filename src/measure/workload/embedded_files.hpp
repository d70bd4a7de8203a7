// The files of kernels/, built into the executable.
#pragma once

#include "units/embedded_file.hpp"

#include <span>

namespace gputomo::measure {

[[nodiscard]] std::span<const EmbeddedFile> embedded_kernels();

}  // namespace gputomo::measure
