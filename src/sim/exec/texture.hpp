// Texture objects: what one reads and how, and the table in which a launch finds them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace gputomo::sim {

/// The memory of a texture object and how it is read; the fields are those of cuTexObjectCreate.
struct TextureObject {
    enum class Memory : std::uint8_t { linear, rows, array };
    /// The numbers are those of CUarray_format.
    enum class Element : std::uint8_t {
        u8 = 0x01,
        u16 = 0x02,
        u32 = 0x03,
        s8 = 0x08,
        s16 = 0x09,
        s32 = 0x0a,
        f16 = 0x10,
        f32 = 0x20
    };
    /// The numbers are those of CUaddress_mode.
    enum class Outside : std::uint8_t { wrap, clamp, mirror, border };

    Memory memory = Memory::linear;
    std::uint64_t address = 0;  ///< of the first texel
    Element element = Element::u32;
    unsigned channels = 1;
    std::uint64_t width = 0;   ///< texels of a row
    std::uint64_t height = 0;  ///< rows; 0 where there is one dimension
    std::uint64_t depth = 0;   ///< slices, or layers; 0 where there are no more than two dimensions
    std::uint64_t pitch = 0;   ///< bytes from one row to the next
    bool layered = false;      ///< the slices are layers
    std::array<Outside, 3> outside{Outside::clamp, Outside::clamp, Outside::clamp};  ///< by dimension
    bool linear_filter = false;
    bool normalized = false;  ///< coordinates are from 0 to 1
    bool as_integer = false;  ///< integers are not made floats from 0 or -1 to 1
    std::array<float, 4> border{};

    [[nodiscard]] std::uint64_t texel_bytes() const;
    /// Bytes from the first texel to the end of the last one.
    [[nodiscard]] std::uint64_t bytes() const;
};

/// Why it cannot be simulated; empty where it can.
[[nodiscard]] std::string refusal_of(const TextureObject& texture);

/// Handle -> texture object. Machine code reads the lower 32 bits of a handle.
using TextureTable = std::unordered_map<std::uint64_t, TextureObject>;

}  // namespace gputomo::sim
