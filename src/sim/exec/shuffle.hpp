// From which lane a shuffle reads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gputomo::sim {

enum class Shuffle : std::uint8_t { up, down, butterfly, index };

struct ShuffleSource {
    std::size_t lane = 0;
    bool valid = false;  ///< otherwise the lane reads its own value
};

/// The lane that lane `self` reads with the operands b (distance or lane) and c (clamp and segment mask); PTX ISA,
/// shfl.sync.
[[nodiscard]] constexpr ShuffleSource shuffle_source(Shuffle how, std::uint32_t self, std::uint32_t b,
                                                     std::uint32_t c) {
    b &= 31;
    const std::uint32_t segment = (c >> 8) & 31, clamp = c & 31;
    const std::uint32_t low = self & segment, high = low | (clamp & ~segment & 31);
    std::int32_t from = 0;
    switch (how) {
        case Shuffle::up: from = static_cast<std::int32_t>(self) - static_cast<std::int32_t>(b); break;
        case Shuffle::down: from = static_cast<std::int32_t>(self + b); break;
        case Shuffle::butterfly: from = static_cast<std::int32_t>(self ^ b); break;
        case Shuffle::index: from = static_cast<std::int32_t>(low | (b & ~segment & 31)); break;
    }
    const auto limit = static_cast<std::int32_t>(high);
    const bool valid = how == Shuffle::up ? from >= limit : from <= limit;
    return {valid ? static_cast<std::size_t>(from) : self, valid};
}

}  // namespace gputomo::sim
