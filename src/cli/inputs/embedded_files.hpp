// The files of machines/ and papers/, built into the executable (cmake/EmbedFiles.cmake makes the source).
#pragma once

#include "units/embedded_file.hpp"

#include <span>

namespace gputomo::cli {

[[nodiscard]] std::span<const EmbeddedFile> embedded_machines();
[[nodiscard]] std::span<const EmbeddedFile> embedded_papers();

}  // namespace gputomo::cli
