// Values of the description as people read them, and text made safe for HTML.
#pragma once

#include "machine/paths.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

/// Text made safe between tags and in attributes.
[[nodiscard]] std::string escaped(std::string_view text);

/// An element id made of any name, the same for the same name: "leaf-caches.l1.ways".
[[nodiscard]] std::string anchor(std::string_view kind, std::string_view name);

/// With its unit: "16 KiB", "38 cycles", "4572 GB/s"; a count has none.
[[nodiscard]] std::string number_text(double value, machine::Unit unit);

/// "233 to 256 KiB"
[[nodiscard]] std::string range_text(double low, double high, machine::Unit unit);

/// "38 cycles", "absent", "4 or 8", "15 to 29", "233 to 256 KiB" where only that is known, "undecided".
[[nodiscard]] std::string leaf_text(const machine::NamedLeaf& leaf);

/// "caches.l1.ways" is ways of caches.l1; "shared.banks" is banks of shared; "operations[add.s32].latency" is latency
/// of operations[add.s32].
[[nodiscard]] std::string owner_of(const machine::NamedLeaf& leaf);

/// The leaves of a description by path.
class Facts {
public:
    explicit Facts(const machine::Machine& machine);
    [[nodiscard]] const std::vector<machine::NamedLeaf>& all() const { return leaves_; }
    [[nodiscard]] const machine::NamedLeaf* find(std::string_view path) const;
    /// As leaf_text; empty where nothing is known or the thing is absent.
    [[nodiscard]] std::string text(std::string_view path) const;
    /// A known number.
    [[nodiscard]] std::optional<double> number(std::string_view path) const;
    [[nodiscard]] bool has(std::string_view path, machine::Knowledge knowledge) const;

private:
    std::vector<machine::NamedLeaf> leaves_;
    std::map<std::string, std::size_t, std::less<>> by_path_;
};

}  // namespace gputomo::report
