// Parses PTX text.
#pragma once

#include "ptx/ir.hpp"

#include <cstdint>
#include <string_view>

namespace gputomo::ptx {

/// What is done with an instruction or a declaration that is not known.
enum class Unknown : std::uint8_t {
    is_error,
    /// An instruction becomes Opcode::unknown, which is refused where a thread executes it. A variable that is not
    /// known makes the instructions that name it unknown. A kernel whose declarations are not known has
    /// Kernel::refusal.
    is_kept
};

/// Parses a PTX module. `origin` (a file name) starts error messages.
/// Throws InputError: "ORIGIN:LINE: what is wrong; expected ...\n    the line".
[[nodiscard]] Module parse(std::string_view text, std::string_view origin = "ptx", Unknown unknown = Unknown::is_error);
/// Parses a module and leaves the bodies of all other kernels empty, so that errors in them do not matter.
[[nodiscard]] Module parse_kernel(std::string_view text, std::string_view kernel, std::string_view origin = "ptx");

}  // namespace gputomo::ptx
