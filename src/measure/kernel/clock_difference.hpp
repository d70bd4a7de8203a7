// The time between two readings of a GPU's 32-bit clock.
#pragma once

#include <cstdint>

namespace gputomo::measure {

/// Cycles from one reading to the other, negative where `to` is the earlier one. It is also right where the clock wraps
/// round between them.
[[nodiscard]] inline double cycles_between(std::uint32_t from, std::uint32_t to) {
    return static_cast<std::int32_t>(to - from);
}

}  // namespace gputomo::measure
