// The files of machines/ and papers/, built into the executable (cmake/EmbedFiles.cmake makes the source).
#pragma once

#include <span>
#include <string_view>

namespace gputomo::cli {

struct EmbeddedFile {
    std::string_view name;
    std::string_view json;
};
[[nodiscard]] std::span<const EmbeddedFile> embedded_machines();
[[nodiscard]] std::span<const EmbeddedFile> embedded_papers();

}  // namespace gputomo::cli
