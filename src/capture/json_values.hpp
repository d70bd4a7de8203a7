// Values that the index of a capture and journals have in common.
#pragma once

#include "files/json_node.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace gputomo::capture {

/// A whole number that fits. Throws InputError naming the field.
template <class Number>
[[nodiscard]] Number small(const files::JsonNode& node) {
    const auto value = node.natural();
    const auto most = std::numeric_limits<Number>::max();
    if (value > static_cast<std::uint64_t>(most)) node.fail("at most " + std::to_string(most));
    return static_cast<Number>(value);
}

/// Sizes in x, y and z.
[[nodiscard]] std::array<std::uint32_t, 3> three(const files::JsonNode& node);
/// Bytes written as pairs of hexadecimal digits.
[[nodiscard]] std::string bytes_of(const files::JsonNode& node);

}  // namespace gputomo::capture
