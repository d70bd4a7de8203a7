// A hash of numbers.
#pragma once

#include <cstdint>

namespace gputomo {

/// A hash whose every bit depends on all of `value`. Equal values give equal hashes on every host.
[[nodiscard]] constexpr std::uint64_t scattered(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31);
}

}  // namespace gputomo
