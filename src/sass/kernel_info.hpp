// What a cubin says about a kernel besides its code.
#pragma once

#include "sass/cubin.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gputomo::sass {

struct KernelInfo {
    struct Parameter {
        std::uint32_t offset = 0;  ///< from the first parameter
        std::uint32_t bytes = 0;
    };
    std::vector<Parameter> parameters;   ///< in order
    std::uint32_t parameter_offset = 0;  ///< of the first parameter, in constant bank 0
    std::uint32_t parameter_bytes = 0;   ///< of all of them
    int registers = 0;                   ///< of a thread; 0 where the cubin does not say
    int max_threads = 0;                 ///< most threads of a block that the compiler allows; 0: not limited
    /// The only size of a block that the code is for, in x, y and z; nullopt where any will do.
    std::optional<std::array<std::uint32_t, 3>> block{};
    std::array<std::uint32_t, 3> cluster{};  ///< blocks of a cluster; zeros where the code does not say
    std::uint64_t stack_bytes = 0;           ///< of a thread: the most that any function of the cubin is known to need
};

/// Reads the sections .nv.info. Throws InputError if the cubin has none for `kernel`, as for a function that kernels
/// call.
[[nodiscard]] KernelInfo kernel_info(const Cubin& cubin, std::string_view kernel);

/// Whether a function of the cubin is a kernel.
[[nodiscard]] bool is_kernel(const Cubin& cubin, std::string_view function);

}  // namespace gputomo::sass
