// Patterns of names in which * stands for any characters.
#pragma once

#include <string_view>

namespace gputomo {

/// Whether a pattern fits a path, as "caches.*.latency" fits "caches.l1.latency" and "operations[*].latency" fits
/// "operations[add.f32].latency".
[[nodiscard]] constexpr bool fits_pattern(std::string_view pattern, std::string_view path) {
    const auto star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == path;
    if (!path.starts_with(pattern.substr(0, star))) return false;
    const auto rest = pattern.substr(star + 1);
    for (auto at = star; at <= path.size(); ++at)
        if (fits_pattern(rest, path.substr(at))) return true;
    return false;
}

}  // namespace gputomo
