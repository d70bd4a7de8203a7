#include "machine/diff.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <variant>

namespace gputomo::machine {
namespace {

std::optional<std::vector<double>> as_numbers(const Value& value) {
    if (const auto* v = std::get_if<std::vector<std::int64_t>>(&value))
        return std::vector<double>(v->begin(), v->end());
    if (const auto* v = std::get_if<std::vector<double>>(&value)) return *v;
    return std::nullopt;
}

/// Largest relative difference of two numbers that count as equal without a tolerance: rounding differs by some 1e-16,
/// and no measurement has nine digits.
constexpr double kRounding = 1e-9;

bool within(double a, double b, double tolerance) {
    return a == b || std::abs(a - b) <= std::max(kRounding, tolerance) * std::max(std::abs(a), std::abs(b));
}

std::array<double, 2> interval_of(const Leaf& leaf, double value) {
    return leaf.provenance.interval.value_or(std::array<double, 2>{value, value});
}

/// Whether the candidates of an undecided leaf allow the value of the other leaf. A leaf without candidates allows
/// every value.
bool compatible(const Leaf& undecided, const Leaf& other, double tolerance) {
    const auto matches = [&](const Value& candidate) {
        Leaf as_known{Knowledge::known, candidate, {}, {}};
        if (other.knowledge == Knowledge::known) return same_value(as_known, other, tolerance);
        return std::any_of(other.candidates.begin(), other.candidates.end(), [&](const Value& theirs) {
            return same_value(as_known, Leaf{Knowledge::known, theirs, {}, {}}, tolerance);
        });
    };
    if (undecided.candidates.empty() || (other.knowledge == Knowledge::undecided && other.candidates.empty()))
        return true;
    return other.knowledge != Knowledge::absent &&
           std::any_of(undecided.candidates.begin(), undecided.candidates.end(), matches);
}

/// Whether one policy is "not-lru" and the other one any policy but LRU, which "not-lru" allows.
bool weaker_policy(const NamedLeaf& mine, const Leaf& theirs) {
    if (mine.info.name != "policy" || mine.leaf.knowledge != Knowledge::known || theirs.knowledge != Knowledge::known)
        return false;
    const Value weak = std::string("not-lru"), lru = std::string("lru");
    const bool one_is_weak = (mine.leaf.value == weak) != (theirs.value == weak);
    return one_is_weak && mine.leaf.value != lru && theirs.value != lru;
}

}  // namespace

bool same_value(const Leaf& a, const Leaf& b, double tolerance) {
    if (a.knowledge != b.knowledge) return false;
    if (a.knowledge == Knowledge::absent) return true;
    const auto x = results::as_number(a.value), y = results::as_number(b.value);
    if (x && y) {
        const auto ia = interval_of(a, *x), ib = interval_of(b, *y);
        return within(*x, *y, tolerance) || (ia[0] <= ib[1] && ib[0] <= ia[1]);
    }
    const auto xs = as_numbers(a.value), ys = as_numbers(b.value);
    if (xs && ys)
        return std::equal(xs->begin(), xs->end(), ys->begin(), ys->end(),
                          [&](double p, double q) { return within(p, q, tolerance); });
    return a.value == b.value;
}

Relation relation(const NamedLeaf& mine, const Leaf& theirs, double tolerance) {
    const bool mine_open = mine.leaf.knowledge == Knowledge::undecided;
    if (mine_open || theirs.knowledge == Knowledge::undecided)
        return compatible(mine_open ? mine.leaf : theirs, mine_open ? theirs : mine.leaf, tolerance)
                   ? Relation::open
                   : Relation::different;
    if (weaker_policy(mine, theirs)) return Relation::open;
    return same_value(mine.leaf, theirs, tolerance) ? Relation::same : Relation::different;
}

DiffResult diff(const Machine& a, const Machine& b, const DiffOptions& options) {
    DiffResult result;
    for (const auto& mine : all_leaves(a)) {
        if (!mine.info.internal.empty()) continue;
        const auto theirs = get_leaf(b, mine.path);
        if (!theirs || theirs->knowledge == Knowledge::unknown) {
            result.only_a.push_back(mine.path);
        } else {
            switch (relation(mine, *theirs, options.tolerance)) {
                case Relation::same: ++result.equal; break;
                case Relation::open: result.undecided.push_back(mine.path); break;
                case Relation::different:
                    result.differing.push_back({mine.path, mine.info.unit, mine.leaf, *theirs});
                    break;
            }
        }
    }
    for (const auto& theirs : all_leaves(b)) {
        if (!theirs.info.internal.empty()) continue;
        const auto mine = get_leaf(a, theirs.path);
        if (!mine || mine->knowledge == Knowledge::unknown) result.only_b.push_back(theirs.path);
    }
    return result;
}

std::string value_text(const Value& value) {
    return std::visit(
        [](const auto& v) -> std::string {
            using T = std::remove_cvref_t<decltype(v)>;
            if constexpr (std::is_same_v<T, double>)
                return fmt::format("{:.6g}", v);
            else if constexpr (std::is_same_v<T, std::vector<double>>)
                return fmt::format("[{:.4g}]", fmt::join(v, ", "));
            else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                               std::is_same_v<T, std::vector<std::string>>)
                return fmt::format("[{}]", fmt::join(v, ", "));
            else
                return fmt::format("{}", v);
        },
        value);
}

std::string value_text(const Leaf& leaf) {
    switch (leaf.knowledge) {
        case Knowledge::unknown: return "unknown";
        case Knowledge::absent: return "absent";
        case Knowledge::known: return value_text(leaf.value);
        case Knowledge::undecided: break;
    }
    if (leaf.candidates.empty()) return "undecided";
    std::vector<std::string> texts;
    for (const auto& candidate : leaf.candidates) texts.push_back(value_text(candidate));
    return fmt::format("one of {}", fmt::join(texts, ", "));
}

std::array<std::string, 2> value_texts(const Difference& difference) {
    const auto& [path, unit, a, b] = difference;
    std::array texts = {value_text(a), value_text(b)};
    const auto *first = std::get_if<double>(&a.value), *second = std::get_if<double>(&b.value);
    if (texts[0] == texts[1] && first != nullptr && second != nullptr)
        texts = {fmt::format("{}", *first), fmt::format("{}", *second)};
    return texts;
}

}  // namespace gputomo::machine
