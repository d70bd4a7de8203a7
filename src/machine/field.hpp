// One leaf of a machine description: a value, where it comes from, and what is known when there is no value.
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

/// Units a leaf may carry; the JSON spelling is in unit_name().
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

/// Where a value comes from: a citation, or a measurement.
struct Provenance {
    std::string source;                             ///< "Wong 2010, Table III"; empty for a measurement
    std::string method;                             ///< experiment and method; empty for a citation
    std::optional<double> confidence;               ///< 0..1, measurements only
    std::optional<std::array<double, 2>> interval;  ///< [low, high] in the leaf's unit, measurements of numbers only
    std::string note;
};

/// How far a leaf is known: a scan's estimates and a description's fields say it with the same words.
using results::Knowledge;

/// T is one of std::int64_t, double, bool, std::string, std::vector<std::int64_t>, std::vector<double>,
/// std::vector<std::string>.
template <class T>
struct Field {
    using value_type = T;

    Knowledge knowledge = Knowledge::unknown;
    T value{};
    std::vector<T> candidates;
    Provenance provenance;

    [[nodiscard]] bool known() const { return knowledge == Knowledge::known; }
    explicit operator bool() const { return known(); }
    const T& operator*() const {
        if (!known()) throw std::logic_error("read of an unknown machine field");
        return value;
    }
    [[nodiscard]] T value_or(T fallback) const { return known() ? value : fallback; }
    void set(T new_value) {
        value = std::move(new_value);
        knowledge = Knowledge::known;
    }
    void set(T new_value, Provenance from) {
        set(std::move(new_value));
        provenance = std::move(from);
    }
};

/// What the schema says of a leaf; each struct lists its leaves once, in its fields() function, and JSON in and out,
/// the schema, validation, diff and access by path all follow from that list.
struct FieldInfo {
    std::string_view name;
    Unit unit = Unit::none;
    std::string_view doc;
    /// Why timing cannot determine it from outside; empty for a field that a scan must fill.
    std::string_view internal = {};
    /// Allowed values, for string leaves that are choices.
    std::vector<std::string_view> choices = {};
};

}  // namespace gputomo::machine
