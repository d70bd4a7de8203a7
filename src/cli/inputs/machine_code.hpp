// Machine code for the simulated GPU, from a cubin or compiled from PTX.
#pragma once

#include <string>

namespace gputomo::cli {

/// Compiles PTX for compute capability `sm` with the ptxas on the PATH and returns the cubin. Throws InputError with
/// what ptxas says where it refuses the file. Where there is no ptxas, the error begins with `what`, which needs the
/// machine code, and ends with `otherwise`, which says what to do.
[[nodiscard]] std::string compile_ptx(const std::string& file, int sm, const std::string& what,
                                      const std::string& otherwise);

}  // namespace gputomo::cli
