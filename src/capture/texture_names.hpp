// Names of the memory of texture objects and of what they read outside it, in captures and in journals.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gputomo::capture {

enum class TextureMemory : std::uint8_t { linear, rows, array };
/// By the number of TextureMemory.
inline constexpr std::array<std::string_view, 3> kTextureMemories{"linear", "rows", "array"};

/// The numbers are those of CUaddress_mode.
enum class TextureOutside : std::uint8_t { wrap, clamp, mirror, border };
/// By the number of TextureOutside.
inline constexpr std::array<std::string_view, 4> kTextureOutsides{"wrap", "clamp", "mirror", "border"};

[[nodiscard]] constexpr std::string_view name_of(TextureMemory memory) {
    return kTextureMemories[static_cast<std::size_t>(memory)];
}
[[nodiscard]] constexpr std::string_view name_of(TextureOutside outside) {
    return kTextureOutsides[static_cast<std::size_t>(outside)];
}

}  // namespace gputomo::capture
