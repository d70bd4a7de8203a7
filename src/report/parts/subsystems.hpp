// The subsystems by which pages are divided, and which leaves of a description each shows.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace gputomo::report {

struct Subsystem {
    std::string_view id;  ///< of its heading
    std::string_view title;
    std::array<std::string_view, 3> parts;  ///< sections of the description
};
[[nodiscard]] std::span<const Subsystem> subsystems();

/// Null for a path of no section.
[[nodiscard]] const Subsystem* subsystem_of(std::string_view path);

/// "caches" of caches.l1.ways and "operations" of operations[add.s32].latency.
[[nodiscard]] std::string_view section_of(std::string_view path);

/// More things of a kind than these are folded away or shown as one row each: operations, say.
inline constexpr std::size_t kManyThings = 12;

}  // namespace gputomo::report
