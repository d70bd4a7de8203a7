// Parses PTX text.
#pragma once

#include "ptx/ir.hpp"

#include <string_view>

namespace gputomo::ptx {

/// Parses a PTX module. `origin` (a file name) starts error messages.
/// Throws InputError: "ORIGIN:LINE: what is wrong; expected ...\n    the line".
[[nodiscard]] Module parse(std::string_view text, std::string_view origin = "ptx");
/// Parses a module and leaves the bodies of all other kernels empty, so that errors in them do not matter.
[[nodiscard]] Module parse_kernel(std::string_view text, std::string_view kernel, std::string_view origin = "ptx");

}  // namespace gputomo::ptx
