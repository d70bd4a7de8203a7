// The files of machines/, built into the executable (cmake/EmbedMachines.cmake makes the source).
#pragma once

#include <span>
#include <string_view>

namespace gputomo::cli {

struct EmbeddedMachine {
    std::string_view name;
    std::string_view json;
};
[[nodiscard]] std::span<const EmbeddedMachine> embedded_machines();

}  // namespace gputomo::cli
