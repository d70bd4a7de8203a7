// One leaf of a machine description: how far it is known, its value or candidates, and where they come from.
#pragma once

#include "results/value.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::machine {

/// The unit of a leaf. unit_name() gives the spelling in JSON.
enum class Unit {
    none,
    bytes,
    cycles,
    nanoseconds,
    megahertz,
    gigabytes_per_second,
    bytes_per_cycle,
    operations_per_cycle,  ///< thread operations per SM clock cycle and SM
    count,
};

/// Whether a leaf of this unit describes time. Its values vary continuously. Sizes, counts and names do not.
[[nodiscard]] constexpr bool describes_time(Unit unit) {
    switch (unit) {
        case Unit::cycles:
        case Unit::nanoseconds:
        case Unit::megahertz:
        case Unit::gigabytes_per_second:
        case Unit::bytes_per_cycle:
        case Unit::operations_per_cycle: return true;
        case Unit::none:
        case Unit::bytes:
        case Unit::count: return false;
    }
    return false;
}

/// Where a value comes from: a citation, or a measurement.
struct Provenance {
    std::string source;                             ///< "Wong 2010, Table III"; empty for a measurement
    std::string method;                             ///< experiment and rule; empty for a citation
    std::optional<double> confidence;               ///< 0..1; measurements only
    std::optional<std::array<double, 2>> interval;  ///< [low, high] in the unit of the leaf; measured numbers only
    std::string note;
};

/// How far a leaf is known: a scan's estimates and a description's fields say it with the same words.
using results::Knowledge;

/// A leaf whose value is a T: one of the alternatives of results::Value.
template <class T>
struct Field {
    using value_type = T;

    Knowledge knowledge = Knowledge::unknown;
    T value{};
    std::vector<T> candidates;
    Provenance provenance;

    [[nodiscard]] bool known() const { return knowledge == Knowledge::known; }
    explicit operator bool() const { return known(); }
    /// The value. Throws std::logic_error if it is not known.
    const T& operator*() const {
        if (!known()) throw std::logic_error("a machine field was read whose value is not known; check known() first");
        return value;
    }
    [[nodiscard]] T value_or(const T& fallback) const { return known() ? value : fallback; }
    void set(T new_value) {
        value = std::move(new_value);
        knowledge = Knowledge::known;
    }
    void set(T new_value, Provenance from) {
        set(std::move(new_value));
        provenance = std::move(from);
    }
};

using Integer = Field<std::int64_t>;
using Real = Field<double>;
using Flag = Field<bool>;
using Text = Field<std::string>;
using Integers = Field<std::vector<std::int64_t>>;
using Reals = Field<std::vector<double>>;
using Texts = Field<std::vector<std::string>>;

/// What the schema says about a leaf. Each struct lists its leaves once, in fields(); JSON in and out, the schema,
/// validation, diff and access by path all follow from that list.
struct FieldInfo {
    std::string_view name;
    Unit unit = Unit::none;
    std::string_view doc;
    /// Why a scan does not fill the leaf: timing cannot see it, or no experiment of a scan measures it. Empty for the
    /// leaves that a scan fills.
    std::string_view internal = {};
    /// The allowed values of a text leaf; empty if any text is allowed.
    std::vector<std::string_view> choices = {};
};

}  // namespace gputomo::machine
