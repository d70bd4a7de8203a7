// PTX kernel -> Code.
#pragma once

#include "predict/code.hpp"
#include "ptx/ir.hpp"

#include <string_view>

namespace gputomo::predict {

/// `origin` (a file name) starts messages. Throws InputError where the module has no such kernel, or naming the line of
/// an instruction that prediction has no cost for (calls, matrix instructions, indirect branches, textures).
[[nodiscard]] Code code_from_ptx(const ptx::Module& module, std::string_view kernel, std::string_view origin);

}  // namespace gputomo::predict
