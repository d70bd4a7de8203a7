// The files of machines/ and papers/, which cmake/EmbedFiles.cmake builds into the executable.
#pragma once

#include "units/embedded_file.hpp"

#include <span>

namespace gputomo::cli {

[[nodiscard]] std::span<const EmbeddedFile> embedded_machines();
[[nodiscard]] std::span<const EmbeddedFile> embedded_papers();

}  // namespace gputomo::cli
