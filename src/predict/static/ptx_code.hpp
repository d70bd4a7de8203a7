// Translates a PTX kernel into the Code that prediction works on.
#pragma once

#include "predict/static/code.hpp"
#include "ptx/ir.hpp"

#include <string_view>

namespace gputomo::predict {

/// `origin` (a file name) starts messages. Throws InputError if the module has no such kernel, and for an instruction
/// without a known cost (calls, MMA, indirect branches, textures), naming its line.
[[nodiscard]] Code code_from_ptx(const ptx::Module& module, std::string_view kernel, std::string_view origin);

}  // namespace gputomo::predict
