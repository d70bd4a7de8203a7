// Translates a machine description for other programs. Each format has one file and one row in the catalogue.
#pragma once

#include "machine/machine.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gputomo::exports {

struct Format {
    std::string_view name;   ///< NAME of `gputomo export --to NAME`
    std::string_view title;  ///< one line for --help
    std::string (*text)(const machine::Machine& machine);
};

[[nodiscard]] std::span<const Format> catalogue();

/// Writes a configuration of Accel-Sim with one option per line. Comments above an option name the leaves that it comes
/// from and their provenance. An option that needs an unknown leaf is left out, and a comment names that leaf.
[[nodiscard]] std::string accel_sim(const machine::Machine& machine);

/// Writes one JSON object, path -> {value, unit, knowledge, ...}, for programs that do not want to walk sections.
[[nodiscard]] std::string flat_json(const machine::Machine& machine);

/// Writes CSV (RFC 4180) with one row per leaf: path, knowledge, value, unit, low, high, confidence, source or method.
[[nodiscard]] std::string csv(const machine::Machine& machine);

}  // namespace gputomo::exports
