// Prints a Module as PTX text.
#pragma once

#include "ptx/ir.hpp"

#include <string>

namespace gputomo::ptx {

/// PTX that the driver compiles and that parse() reads back to the same Module, up to line numbers.
[[nodiscard]] std::string to_text(const Module& module);
[[nodiscard]] std::string to_text(const Kernel& kernel, const Instruction& instruction);

}  // namespace gputomo::ptx
