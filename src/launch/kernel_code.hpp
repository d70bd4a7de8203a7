// What the code of a kernel says of it, for whoever makes a launch without a program that launches it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::launch {

struct KernelParameter {
    std::uint64_t offset = 0;  ///< from the first parameter
    std::uint64_t bytes = 0;
    std::string name;  ///< empty in a cubin, which does not say
    std::string type;  ///< of PTX, "u32"; empty in a cubin, and for structs and arrays
};

struct KernelCode {
    std::string name;
    bool machine_code = false;  ///< a cubin; false: PTX
    int sm = 0;                 ///< compute capability of the code, 90 for 9.0; of PTX its target
    std::vector<KernelParameter> parameters;
    int registers = 0;                      ///< of a thread; 0 in PTX
    std::uint64_t static_shared_bytes = 0;  ///< of a block, with what the system keeps; 0 in PTX
    std::uint64_t stack_bytes = 0;          ///< of a thread; 0 in PTX
    int max_threads = 0;                    ///< most threads of a block that the code allows; 0: it does not say
    /// The only size of a block that machine code is for, in x, y and z; nullopt where any will do, and in PTX.
    std::optional<std::array<std::uint32_t, 3>> block{};
};

/// The names of the kernels in a cubin or PTX. `origin` begins messages. Throws InputError where the code is neither.
[[nodiscard]] std::vector<std::string> kernels_in(std::string_view code, const std::string& origin);

/// Throws InputError that lists the kernels where `name` is not one of them.
[[nodiscard]] KernelCode kernel_code(std::string_view code, const std::string& name, const std::string& origin);

}  // namespace gputomo::launch
