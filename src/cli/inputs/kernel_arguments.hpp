// Reads launch options of the command line: arguments, such as TYPE:VALUE or buf:BYTES[:FILE], and grid and block
// sizes.
#pragma once

#include "device/device.hpp"
#include "launch/launch.hpp"
#include "ptx/ir.hpp"
#include "sass/cubin.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gputomo::cli {

/// Launch arguments and the buffers that they point to.
struct KernelArguments {
    std::vector<launch::Argument> values;
    std::vector<launch::Buffer> buffers;
    std::size_t hidden = 0;  ///< trailing ones that were not given and are 0
};

inline constexpr const char* kArgumentHelp =
    "one argument, in the kernel's order; given once for each. TYPE:VALUE with TYPE u8 to u64, s8 to s64, bool, f16, "
    "bf16, f32 or f64. Structs are struct:TYPE:VALUE,... or hex:BYTES, memory is buf:BYTES[:FILE]. A tensor map is "
    "tensor:TYPE:SIZES:BOX[:SWIZZLE], with sizes in elements as 4096x1024, the innermost first";

/// What a kernel asks for, whichever language it is in.
struct Signature {
    struct Parameter {
        std::string name;
        std::size_t bytes = 0;
        std::string type;  ///< "u32"; empty where the code does not say, as a cubin
        /// In the parameter space; nullopt: behind the one before, aligned to its size.
        std::optional<std::uint64_t> offset{};
    };
    std::vector<Parameter> parameters;
    std::string text;  ///< "vector_add(u64 a, u32 n)"
    /// Pointers at the end that the code never reads: those to scratch memory that Triton adds to every kernel.
    std::size_t unread_pointers = 0;
    std::optional<device::Dim3> block{};  ///< the only size of a block that the code is for
};
/// How many parameters Triton adds.
inline constexpr std::size_t kHiddenPointers = 2;
[[nodiscard]] Signature signature_of(const ptx::Kernel& kernel);
/// A cubin names no parameters: they are numbered from 0. Throws InputError that lists the kernels of the file where
/// `name` is not one of them.
[[nodiscard]] Signature signature_of(const sass::Cubin& cubin, const std::string& name, const std::string& file);

/// Throws InputError where a text is wrong, or where the arguments differ from the kernel's parameters in number or
/// size. Where just kHiddenPointers at the end are missing, and the code never reads them, they are 0. Where the type
/// of a parameter is known, it and its argument must both be whole numbers, or neither.
[[nodiscard]] KernelArguments parse_arguments(const std::vector<std::string>& texts, const Signature& signature);

/// The arguments on a device, with the buffers that live as long as they do.
struct DeviceArguments {
    device::Arguments packed;
    std::vector<device::Buffer> buffers;
};
[[nodiscard]] DeviceArguments place_arguments(const KernelArguments& arguments, device::Device& device);

/// Reads X[,Y,Z]; `option` names the option in errors. Throws InputError.
[[nodiscard]] device::Dim3 dimensions(std::string_view text, const std::string& option);

/// The values of --grid and --block; empty where not given.
struct ShapeOptions {
    std::string grid, block;
};
struct LaunchShape {
    device::Dim3 grid, block;
};
/// The block may be left out where the code is for one size alone. Throws InputError where one is not given, is wrong,
/// not the size that the code is for, or more than `gpu` launches.
[[nodiscard]] LaunchShape launch_shape(const ShapeOptions& options, const device::Device& gpu,
                                       const std::optional<device::Dim3>& block = {});

/// Throws InputError that lists the kernels of the file where `name` is not one of them.
[[nodiscard]] const ptx::Kernel& find_kernel(const ptx::Module& module, const std::string& name,
                                             const std::string& file);

[[noreturn]] void refuse_number(std::string_view text, const std::string& where, std::string_view expected);

/// Reads the whole of `text` as a number of type T. Throws InputError that starts with `where`.
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
