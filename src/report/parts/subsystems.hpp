// The subsystems that divide a page, and the sections of the description that each shows.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace gputomo::report {

struct Subsystem {
    std::string_view id;  ///< id of its heading
    std::string_view title;
    std::string_view menu;                  ///< the title in a word
    std::array<std::string_view, 3> parts;  ///< sections of the description
};
[[nodiscard]] std::span<const Subsystem> subsystems();

/// Null for a path that belongs to no subsystem.
[[nodiscard]] const Subsystem* subsystem_of(std::string_view path);

/// The first part of a path: "caches" of caches.l1.ways, "operations" of operations[add.s32].latency.
[[nodiscard]] std::string_view section_of(std::string_view path);

/// A kind with more things than this, such as operations, is folded away or shown with one row for each thing. A
/// larger number makes pages longer.
inline constexpr std::size_t kManyThings = 12;

}  // namespace gputomo::report
