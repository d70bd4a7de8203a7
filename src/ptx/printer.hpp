// Module -> PTX text.
#pragma once

#include "ptx/ir.hpp"

#include <string>

namespace gputomo::ptx {

/// PTX that parse() reads back to the same Module (up to lines) and that the driver compiles.
[[nodiscard]] std::string to_text(const Module& module);
[[nodiscard]] std::string to_text(const Kernel& kernel, const Instruction& instruction);

}  // namespace gputomo::ptx
