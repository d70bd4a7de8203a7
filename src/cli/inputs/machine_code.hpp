// Machine code for the simulated GPU, from a cubin or compiled from PTX.
#pragma once

#include <string>

namespace gputomo::cli {

/// Compiles PTX for compute capability `sm` with the ptxas on the PATH and returns the cubin. Throws InputError where
/// there is no ptxas, or with what it says where it refuses the file.
[[nodiscard]] std::string compile_ptx(const std::string& file, int sm);

}  // namespace gputomo::cli
