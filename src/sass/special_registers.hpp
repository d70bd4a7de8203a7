// The special registers of compute capability 7.0 and newer.
#pragma once

#include <cstdint>
#include <string_view>

namespace gputomo::sass {

/// "SR_TID.X"; empty for a number without a name.
[[nodiscard]] std::string_view special_register_text(std::uint8_t number);

/// Whether it is the low or the high half of the SM's clock.
[[nodiscard]] bool counts_cycles(std::uint8_t number);

}  // namespace gputomo::sass
