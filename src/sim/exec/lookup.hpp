// The logical function of three operands that a truth table of 8 bits names.
#pragma once

#include <cstdint>

namespace gputomo::sim {

/// Each bit of the result is the row of the truth table that the three sources' bits select.
[[nodiscard]] inline std::uint32_t lookup3(std::uint8_t table, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t out = 0;
    for (std::uint32_t row = 0; row < 8; ++row)
        if (((table >> row) & 1) != 0)
            out |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
    return out;
}

}  // namespace gputomo::sim
