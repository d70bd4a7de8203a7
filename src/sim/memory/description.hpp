// Reads leaves of a description and says which one is wrong.
#pragma once

#include "machine/machine.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace gputomo::sim {

/// "caches.l1", or "caches[a.b]" for a key with dots.
[[nodiscard]] inline std::string key_path(std::string_view section, std::string_view key) {
    return key.find('.') == std::string_view::npos ? fmt::format("{}.{}", section, key)
                                                   : fmt::format("{}[{}]", section, key);
}

[[noreturn]] inline void reject(std::string_view path, std::string_view found, std::string_view expected) {
    throw InputError(fmt::format("{}: {}; expected {}", path, found, expected));
}

/// The value of a leaf that the simulator cannot do without. Throws InputError.
template <class T>
[[nodiscard]] const T& need(const machine::Field<T>& field, std::string_view path, std::string_view expected) {
    if (!field) reject(path, field.knowledge == machine::Knowledge::undecided ? "undecided" : "missing", expected);
    return *field;
}

/// A whole number from 1 to `most`.
[[nodiscard]] inline std::uint64_t need_count(const machine::Integer& field, std::string_view path,
                                              std::int64_t most = std::int64_t{1} << 40) {
    const auto expected = fmt::format("a whole number from 1 to {}", most);
    const auto value = need(field, path, expected);
    if (value < 1 || value > most) reject(path, fmt::format("found {}", value), expected);
    return static_cast<std::uint64_t>(value);
}

/// Cycles: 0 or more.
[[nodiscard]] inline double need_cycles(const machine::Integer& field, std::string_view path) {
    constexpr std::string_view kExpected = "cycles, 0 or more";
    const auto value = need(field, path, kExpected);
    if (value < 0) reject(path, fmt::format("found {}", value), kExpected);
    return static_cast<double>(value);
}

/// A rate, greater than 0.
[[nodiscard]] inline double need_rate(const machine::Real& field, std::string_view path) {
    constexpr std::string_view kExpected = "a number greater than 0";
    const auto value = need(field, path, kExpected);
    if (!(value > 0)) reject(path, fmt::format("found {}", value), kExpected);
    return value;
}

/// Cycles by which a result comes later for the CUDA cores than for units of its own kind; negative where it comes
/// earlier (Volkov 2016, 4.7).
[[nodiscard]] inline double forwarding(const machine::Integer& latency, const machine::Integer& forward_latency,
                                       const std::string& path) {
    if (!forward_latency) return 0;
    return need_cycles(forward_latency, path + ".forward_latency") - need_cycles(latency, path + ".latency");
}

/// Issue slots of an instruction; 1 where the description does not say.
[[nodiscard]] inline double slots_of(const machine::Real& field, std::string_view path) {
    if (!field) return 1;
    if (!(*field >= 1 && *field <= 64)) reject(path, fmt::format("found {}", *field), "a number from 1 to 64");
    return *field;
}

}  // namespace gputomo::sim
