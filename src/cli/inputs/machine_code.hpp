// Machine code for the simulated GPU, from a cubin or compiled from PTX.
#pragma once

#include "answer/fits.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gputomo::cli {

using answer::check_cubin;
using answer::check_machine_code;

/// Whether a file holds machine code: a cubin, or a fatbin.
[[nodiscard]] bool is_machine_code_file(const std::string& file);

/// What a simulated GPU should execute of a fatbin that has both languages.
enum class CodeWish : std::uint8_t { any, ptx };
struct FileCode {
    std::string code;           ///< PTX or a cubin
    bool is_extracted = false;  ///< from a fatbin
};
/// Reads a PTX file, a cubin, or a fatbin. A fatbin gives what a simulated GPU of compute capability `sm` executes:
/// machine code where there is some, or else PTX. Throws InputError that says what the fatbin has where nothing fits,
/// and that names other kinds of files.
[[nodiscard]] FileCode read_code(const std::string& file, int sm, CodeWish wish);

struct PtxSource {
    std::string file;
    std::string extracted;        ///< its PTX, where the file is a fatbin; empty where it is the file
    int target_sm = 0;            ///< of its .target
    std::string target_suffix{};  ///< "a" of .target sm_90a: PTX for this architecture only
};
/// Compiles PTX for compute capability `sm`, or for the PTX's own variant of it such as sm_90a, with the ptxas on the
/// PATH and returns the cubin. Throws InputError with what ptxas says where it refuses the file. Where there is no
/// ptxas, the error begins with `what`, which needs the machine code, and ends with `otherwise`, which says what to do.
[[nodiscard]] std::string compile_ptx(const PtxSource& source, int sm, const std::string& what,
                                      const std::string& otherwise);

}  // namespace gputomo::cli
