// Kernel arguments as the command line spells them: TYPE:VALUE and buf:BYTES[:FILE].
#pragma once

#include "device/device.hpp"
#include "ptx/ir.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gputomo::cli {

/// Arguments and the buffers that they point to.
struct KernelArguments {
    device::Arguments packed;
    std::vector<device::Buffer> buffers;
};

/// Throws InputError where a text, their number or a size is not what the kernel takes.
[[nodiscard]] KernelArguments kernel_arguments(const std::vector<std::string>& texts, const ptx::Kernel& kernel,
                                               device::Device& gpu);

/// X[,Y,Z] of the option. Throws InputError.
[[nodiscard]] device::Dim3 dimensions(std::string_view text, const std::string& option);

/// Throws InputError naming the kernels that the file has.
[[nodiscard]] const ptx::Kernel& find_kernel(const ptx::Module& module, const std::string& name,
                                             const std::string& file);

[[noreturn]] void refuse_number(std::string_view text, const std::string& where, std::string_view expected);

/// The whole of `text` as a number that T holds. Throws InputError that starts with `where`.
template <class T>
[[nodiscard]] T number(std::string_view text, const std::string& where) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) refuse_number(text, where, "a number that its type holds");
    if (error != std::errc{} || end != text.data() + text.size())
        refuse_number(text, where,
                      !std::is_integral_v<T> ? "a number"
                      : std::is_signed_v<T>  ? "a whole number"
                                             : "a whole number that is not negative");
    return value;
}

}  // namespace gputomo::cli
