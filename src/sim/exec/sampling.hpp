// Reads texels, and filters them as texture units do.
#pragma once

#include "sim/memory/device_memory.hpp"
#include "sim/exec/texture.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gputomo::sim {

/// The four channels of a texel or of a filtered result: bits of floats, or integers.
using Texel = std::array<std::uint32_t, 4>;

/// The addresses that a fetch reads: at most the corners of a cube.
struct ReadTexels {
    std::array<std::uint64_t, 8> addresses{};
    std::size_t count = 0;
};

struct TexturePoint {
    std::array<float, 3> coordinate{};
    std::uint32_t layer = 0;
    std::size_t dimensions = 1;
};

/// Reads the texel at these whole coordinates. One outside is zero.
[[nodiscard]] Texel texel_at(const TextureObject& texture, const DeviceMemory& memory,
                             const std::array<std::int64_t, 3>& place, ReadTexels& read);

/// Reads at a point, with the filter and the addressing of the texture object.
[[nodiscard]] Texel sample(const TextureObject& texture, const DeviceMemory& memory, const TexturePoint& point,
                           ReadTexels& read);

/// One channel of the four texels that a linear filter would read in two dimensions, counterclockwise from the one
/// at the lower left.
[[nodiscard]] Texel gather(const TextureObject& texture, const DeviceMemory& memory, const TexturePoint& point,
                           std::size_t channel, ReadTexels& read);

}  // namespace gputomo::sim
