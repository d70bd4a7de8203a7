// Keys of `operations` for parts of machine instructions that have no row of their own in PTX: branches through a
// register, and further values of a match.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace gputomo::costs {

/// Their latency is the time until the warp goes on at the target: BRX, CALL through a register, and RET.
inline constexpr std::string_view kRegisterBranch = "bra:register", kRegisterCall = "call:register",
                                  kReturn = "ret:register";
/// What MATCH.ANY takes for each value of the threads beyond the first one, for values of 32 and 64 bits.
inline constexpr std::string_view kFurtherValue = "match.any.sync.b32:value",
                                  kFurtherWideValue = "match.any.sync.b64:value";

/// Whether the key is one of these, which no unit executes alone.
[[nodiscard]] inline bool is_part_of_instruction(std::string_view key) {
    constexpr std::array kKeys{kRegisterBranch, kRegisterCall, kReturn, kFurtherValue, kFurtherWideValue};
    return std::ranges::find(kKeys, key) != kKeys.end();
}

}  // namespace gputomo::costs
