// How memory after a launch differs from what a GPU left: by bytes, and by floating-point numbers.
#include "launch/launch.hpp"
#include "sim/exec/half_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace gputomo::launch {
namespace {

/// The facts of a type: its name, and the smallest exponent of a normal number.
struct TypeFacts {
    NumberType type;
    std::string_view name;
    std::size_t bytes;
    int fraction;  ///< bits
    int smallest_exponent;
};
constexpr TypeFacts kTypes[] = {
    {NumberType::f16, "f16", 2, sim::F16::kFraction, 1 - sim::F16::kBias},
    {NumberType::bf16, "bf16", 2, sim::BF16::kFraction, 1 - sim::BF16::kBias},
    {NumberType::f32, "f32", 4, std::numeric_limits<float>::digits - 1, std::numeric_limits<float>::min_exponent - 1},
    {NumberType::f64, "f64", 8, std::numeric_limits<double>::digits - 1, std::numeric_limits<double>::min_exponent - 1},
};

const TypeFacts& facts_of(NumberType type) { return *std::ranges::find(kTypes, type, &TypeFacts::type); }

double value_at(NumberType type, const std::byte* at) {
    if (type == NumberType::f64) {
        double value = 0;
        std::memcpy(&value, at, sizeof value);
        return value;
    }
    if (type == NumberType::f32) {
        float value = 0;
        std::memcpy(&value, at, sizeof value);
        return value;
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return type == NumberType::f16 ? sim::value_of<sim::F16>(bits) : sim::value_of<sim::BF16>(bits);
}

/// Zero, or finite and no smaller than the smallest normal number.
bool has_size(const TypeFacts& facts, double value) {
    return value == 0 || (std::isfinite(value) && std::ilogb(value) >= facts.smallest_exponent);
}

void add(const TypeFacts& facts, double found, double expected, NumberDifference& to) {
    ++to.numbers;
    const double larger = std::max(std::fabs(found), std::fabs(expected));
    if (!has_size(facts, found) || !has_size(facts, expected)) {
        ++to.without_size;
        return;
    }
    if (larger == 0) return;  // zeros with different signs
    const double apart = std::fabs(found - expected);
    to.relative = std::max(to.relative, apart / larger);
    to.units = std::max(to.units, std::ldexp(apart, facts.fraction - std::ilogb(larger)));
}

}  // namespace

std::string_view name_of(NumberType type) { return facts_of(type).name; }

std::optional<NumberType> number_type_named(std::string_view name) {
    const auto* const found = std::ranges::find(kTypes, name, &TypeFacts::name);
    if (found == std::end(kTypes)) return std::nullopt;
    return found->type;
}

std::optional<Difference> difference(const Buffer& expected, std::span<const std::byte> made,
                                     const Tolerance& tolerance) {
    std::vector<std::byte> content(expected.bytes);
    if (expected.fill) expected.fill(content);
    Difference found{.buffer = expected.name, .compared = expected.bytes};
    for (std::uint64_t i = 0; i < expected.bytes; ++i) {
        if (made[i] == content[i]) continue;
        if (found.bytes++ == 0) {
            found.offset = i;
            found.found = std::to_integer<int>(made[i]);
            found.expected = std::to_integer<int>(content[i]);
        }
    }
    if (found.bytes == 0) return std::nullopt;
    const TypeFacts& facts = facts_of(tolerance.type);
    found.as_numbers.type = tolerance.type;
    const std::uint64_t whole = expected.bytes / facts.bytes * facts.bytes;
    for (std::uint64_t i = 0; i < whole; i += facts.bytes)
        if (std::memcmp(&made[i], &content[i], facts.bytes) != 0)
            add(facts, value_at(tolerance.type, &made[i]), value_at(tolerance.type, &content[i]), found.as_numbers);
    const bool rest_is_equal =
        std::memcmp(made.data() + whole, content.data() + whole, static_cast<std::size_t>(expected.bytes - whole)) == 0;
    found.tolerated =
        rest_is_equal && found.as_numbers.without_size == 0 && found.as_numbers.relative <= tolerance.relative;
    return found;
}

}  // namespace gputomo::launch
