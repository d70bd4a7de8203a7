// Names of machine instructions and special registers, for compute capability 7.0 and newer.
#pragma once

#include <cstdint>
#include <string_view>

namespace gputomo::device {

struct OpcodeRow {
    std::uint16_t base = 0;  ///< the lowest 9 bits of the instruction; the 3 bits above encode where operands come from
    std::string_view name;
    /// Whether it waits for memory, a special function unit, double precision, a conversion or another thread. False
    /// for loads of constants and special registers.
    bool slow = false;
};

/// The row of an instruction whose lowest 12 bits are `opcode`; nullptr if it is unknown.
[[nodiscard]] const OpcodeRow* opcode_row(std::uint16_t opcode);

/// The name of a special register ("SR_CLOCKLO"); empty if it is unknown.
[[nodiscard]] std::string_view special_register_name(std::uint8_t number);

/// Whether the special register is the low or the high half of the SM's clock.
[[nodiscard]] bool is_clock(std::uint8_t special_register);

}  // namespace gputomo::device
