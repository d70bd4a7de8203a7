// A file of the project that is built into the executable; cmake/EmbedFiles.cmake generates the source.
#pragma once

#include <string_view>

namespace gputomo {

struct EmbeddedFile {
    std::string_view name;  ///< without folder and extension
    std::string_view text;
};

}  // namespace gputomo
