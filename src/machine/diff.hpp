// Compares two machine descriptions, leaf by leaf.
#pragma once

#include "machine/paths.hpp"

#include <array>
#include <string>
#include <vector>

namespace gputomo::machine {

struct DiffOptions {
    /// Relative tolerance of numbers, in addition to their intervals.
    double tolerance = 0;
};

struct Difference {
    std::string path;
    Unit unit = Unit::none;
    Leaf a;
    Leaf b;
};

struct DiffResult {
    std::vector<Difference> differing;   ///< leaves that both have with different values
    std::vector<std::string> undecided;  ///< leaves for which one has candidates that allow the other's value
    std::vector<std::string> only_a;     ///< leaves that only one has, by path
    std::vector<std::string> only_b;
    std::size_t equal = 0;
};

/// Compares the leaves that the schema does not mark internal. Numbers are equal when their intervals overlap, or when
/// they differ by no more than the tolerance or rounding. An absent leaf equals an absent one only. The policy
/// "not-lru" leaves every policy but "lru" possible, so the two are undecided.
[[nodiscard]] DiffResult diff(const Machine& a, const Machine& b, const DiffOptions& options = {});

/// How two leaves compare by the rules of diff(); `open` means that one has candidates that allow the other's value.
/// Neither leaf may be Knowledge::unknown.
enum class Relation { same, different, open };
[[nodiscard]] Relation relation(const NamedLeaf& mine, const Leaf& theirs, double tolerance = 0);

/// Whether two leaves, each known or absent, are equal.
[[nodiscard]] bool same_value(const Leaf& a, const Leaf& b, double tolerance);

/// A leaf's value as text: "24", "[436, 443]", "absent", "one of 42, 44".
[[nodiscard]] std::string value_text(const Leaf& leaf);
[[nodiscard]] std::string value_text(const Value& value);
/// Both values as text. Reals that look equal in six digits get as many as distinguish them.
[[nodiscard]] std::array<std::string, 2> value_texts(const Difference& difference);

}  // namespace gputomo::machine
