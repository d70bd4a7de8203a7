// What differs between two machine descriptions.
#pragma once

#include "machine/paths.hpp"

#include <string>
#include <vector>

namespace gputomo::machine {

struct DiffOptions {
    /// Relative tolerance for numbers, on top of their intervals.
    double tolerance = 0;
};

struct Difference {
    std::string path;
    Unit unit = Unit::none;
    Leaf a;
    Leaf b;
};

struct DiffResult {
    std::vector<Difference> differing;   ///< both have it, and it differs
    std::vector<std::string> undecided;  ///< one has candidates that do not exclude the other's value
    std::vector<std::string> only_a;
    std::vector<std::string> only_b;
    std::size_t equal = 0;
};

/// Compares leaf by leaf. Leaves that the schema marks internal are skipped. Numbers are equal when their intervals
/// overlap or they are within the tolerance; "absent" equals "absent" only. The policy "not-lru" against any policy but
/// "lru" is undecided.
[[nodiscard]] DiffResult diff(const Machine& a, const Machine& b, const DiffOptions& options = {});

/// How two leaves that are not unknown stand to each other, by the rules of diff().
enum class Relation { same, different, open };
[[nodiscard]] Relation relation(const NamedLeaf& mine, const Leaf& theirs, double tolerance = 0);

/// Whether two known or absent leaves are the same.
[[nodiscard]] bool same_value(const Leaf& a, const Leaf& b, double tolerance);

/// A leaf's value as text: "24", "[436, 443]", "absent", "one of 42, 44".
[[nodiscard]] std::string value_text(const Leaf& leaf);
[[nodiscard]] std::string value_text(const Value& value);

}  // namespace gputomo::machine
