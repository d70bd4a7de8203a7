// One launch of a kernel: its code, its shape, and the memory that it finds. Everything that predicts or simulates a
// launch begins with this struct, wherever the launch comes from.
#pragma once

#include "device/device.hpp"
#include "sim/exec/texture.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::launch {

/// Memory before a launch, or what a GPU left in it.
struct Buffer {
    std::string name;  ///< in messages: "the device buffer at 0x7f00"
    std::uint64_t bytes = 0;
    std::optional<device::Address> address;  ///< nullopt: wherever the GPU has room
    std::string variable;                    ///< the variable of the module that this is; empty for an allocation
    device::MemorySpace space = device::MemorySpace::device;
    bool is_array = false;  ///< of a texture, at an address that no GPU has
    /// Writes the content to `bytes` bytes that are zero. Empty where they stay zero.
    std::function<void(std::span<std::byte>)> fill;
    /// Writes the part of the content that begins at an offset, so that what no block reaches need not be written.
    /// Empty where the content is written as a whole only.
    std::function<void(std::uint64_t, std::span<std::byte>)> fill_part{};
    /// The content is not known: zeros or generated numbers stand in for it.
    bool made_up = false;
};

/// A value in the parameter space.
struct Argument {
    std::uint64_t offset = 0;           ///< from the first parameter
    std::vector<std::byte> bytes;       ///< the value; the address of `buffer` takes the place of the first 8
    std::optional<std::size_t> buffer;  ///< index into Launch::buffers
};

struct Texture {
    device::Texture handle = 0;
    sim::TextureObject object;
};

struct Launch {
    std::string code;    ///< a cubin, or PTX text
    std::string kernel;  ///< its name in the code
    std::string origin;  ///< the code's file in messages; empty where messages need none
    device::Dim3 grid, block;
    std::uint64_t dynamic_shared = 0;  ///< bytes of a block
    std::optional<device::Dim3> cluster{};
    bool cooperative = false;
    std::vector<Argument> arguments;  ///< by offset
    std::vector<Buffer> buffers;
    std::vector<Texture> textures;
    std::optional<std::vector<Buffer>> results;  ///< what a GPU left in buffers, where that is known
    /// Why the launch may execute something else than the recorded program did; empty where nothing says so.
    std::string not_proven;
};

/// The parameter space of `bytes` bytes; `addresses` are those of the buffers, in order. Throws InputError where an
/// argument lies outside.
[[nodiscard]] std::vector<std::byte> parameter_space(const Launch& launch, std::span<const device::Address> addresses,
                                                     std::uint64_t bytes);

/// The bytes of an argument, with the address of its buffer in place.
[[nodiscard]] std::vector<std::byte> value_of(const Argument& argument, std::span<const device::Address> addresses);

/// Throws InputError where the blocks are in clusters. PTX with clusters is executed on a GPU only.
void refuse_clusters(const Launch& launch);

/// The floating-point numbers as which buffers are compared.
enum class NumberType : std::uint8_t { f16, bf16, f32, f64 };
[[nodiscard]] std::string_view name_of(NumberType type);
[[nodiscard]] std::optional<NumberType> number_type_named(std::string_view name);

/// How far numbers may be apart.
struct Tolerance {
    NumberType type = NumberType::f32;
    double relative = 0;  ///< of the larger of the two
};

/// How far numbers of one type are apart, where the bytes of a buffer are read as such.
struct NumberDifference {
    NumberType type = NumberType::f32;
    std::uint64_t numbers = 0;  ///< that differ
    /// Numbers among them that are infinite, NaN or subnormal on either side. Integers below 2^23 are subnormal floats,
    /// so that no tolerance lets them differ.
    std::uint64_t without_size = 0;
    double units = 0;     ///< largest difference of the others, in units in the last place of the larger number
    double relative = 0;  ///< largest difference of the others, as a share of the larger number
};

/// Where memory after a launch is not what the GPU left there.
struct Difference {
    std::string buffer;        ///< its name
    std::uint64_t offset = 0;  ///< of the first byte that differs
    std::uint64_t bytes = 0;   ///< that differ, of those compared
    std::uint64_t compared = 0;
    int found = 0, expected = 0;  ///< that byte
    NumberDifference as_numbers;
    bool tolerated = false;  ///< all numbers are within the tolerance
};

/// Compares `made` with the content of a buffer.
[[nodiscard]] std::optional<Difference> difference(const Buffer& expected, std::span<const std::byte> made,
                                                   const Tolerance& tolerance = {});

}  // namespace gputomo::launch
