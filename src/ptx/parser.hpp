// PTX text -> Module.
#pragma once

#include "ptx/ir.hpp"

#include <string_view>

namespace gputomo::ptx {

/// Parses a PTX module. `origin` (a file name) starts error messages.
/// Throws InputError: "ORIGIN:LINE: what is wrong; expected ...\n    the line".
[[nodiscard]] Module parse(std::string_view text, std::string_view origin = "ptx");
/// The same, with the bodies of all kernels but one left empty: whatever they hold, they are no concern of who asks for
/// that one.
[[nodiscard]] Module parse_kernel(std::string_view text, std::string_view kernel, std::string_view origin = "ptx");

}  // namespace gputomo::ptx
