// Writes values of the description for people, and makes text safe for HTML.
#pragma once

#include "machine/paths.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

/// Makes text safe between HTML tags and in attributes.
[[nodiscard]] std::string escaped(std::string_view text);

/// Makes an element id of a name, such as "leaf-caches.l1.ways". Different names have different ids.
[[nodiscard]] std::string anchor(std::string_view kind, std::string_view name);

/// A name of columns or fields as words: "in_flight" as "in flight", "sm" as "SM".
[[nodiscard]] std::string in_words(std::string_view name);

/// A key of the description as a title: "constant_l1" as "Constant L1".
[[nodiscard]] std::string shown_name(std::string_view key);

/// Writes a number with its unit: "16 KiB", "38 cycles", "4572 GB/s". A count has no unit.
[[nodiscard]] std::string number_text(double value, machine::Unit unit);

/// Writes a range: "233 to 256 KiB".
[[nodiscard]] std::string range_text(double low, double high, machine::Unit unit);

/// Writes what is known of a leaf: "38 cycles", "absent", "4 or 8" and "15 to 29" for candidates, "233 to 256 KiB"
/// where only an interval is known, or "undecided".
[[nodiscard]] std::string leaf_text(const machine::NamedLeaf& leaf);

/// The path of what the leaf describes: "caches.l1" of caches.l1.ways, "operations[add.s32]" of
/// operations[add.s32].latency.
[[nodiscard]] std::string owner_of(const machine::NamedLeaf& leaf);

/// The leaves of a description by path.
class Facts {
public:
    explicit Facts(const machine::Machine& machine);
    [[nodiscard]] const std::vector<machine::NamedLeaf>& all() const { return leaves_; }
    [[nodiscard]] const machine::NamedLeaf* find(std::string_view path) const;
    /// What leaf_text() writes; empty where nothing is known or the thing is absent.
    [[nodiscard]] std::string text(std::string_view path) const;
    /// The value of a leaf that is known and a number.
    [[nodiscard]] std::optional<double> number(std::string_view path) const;
    [[nodiscard]] bool has(std::string_view path, machine::Knowledge knowledge) const;

private:
    std::vector<machine::NamedLeaf> leaves_;
    std::map<std::string, std::size_t, std::less<>> by_path_;
};

}  // namespace gputomo::report
