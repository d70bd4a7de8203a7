// Translations of a machine description for other programs. One file and one row each.
#pragma once

#include "machine/machine.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gputomo::exports {

struct Format {
    std::string_view name;   ///< as in `gputomo export --to NAME`
    std::string_view title;  ///< one line
    std::string (*text)(const machine::Machine& machine);
};

[[nodiscard]] std::span<const Format> catalogue();

/// A configuration of Accel-Sim: one option a line, each below comments that say which leaves it comes from and how
/// they are known. An option of which a part is not known is left out, with a comment that names the missing leaves.
[[nodiscard]] std::string accel_sim(const machine::Machine& machine);

/// One JSON object, path -> {value, unit, knowledge, ...}, for programs that don't want to walk sections.
[[nodiscard]] std::string flat_json(const machine::Machine& machine);

/// One row a leaf (RFC 4180): path, knowledge, value, unit, low, high, confidence, source or method.
[[nodiscard]] std::string csv(const machine::Machine& machine);

}  // namespace gputomo::exports
