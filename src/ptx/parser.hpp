// PTX text -> Module.
#pragma once

#include "ptx/ir.hpp"

#include <string_view>

namespace gputomo::ptx {

/// Parses a PTX module. `origin` (a file name) starts error messages.
/// Throws InputError: "ORIGIN:LINE: what is wrong; expected ...\n    the line".
[[nodiscard]] Module parse(std::string_view text, std::string_view origin = "ptx");

}  // namespace gputomo::ptx
