// Writes a machine description as a table for the terminal.
#pragma once

#include "machine/machine.hpp"

#include <string>

namespace gputomo::report {

/// Shows value, unit, confidence and interval of each leaf in plain ASCII, grouped by section. Undecided and absent
/// leaves are marked as such.
[[nodiscard]] std::string table(const machine::Machine& machine);

}  // namespace gputomo::report
