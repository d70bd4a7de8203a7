// A machine description as a table for the terminal.
#pragma once

#include "machine/machine.hpp"

#include <string>

namespace gputomo::report {

/// Grouped by section; value, unit, interval, confidence. Undecided and absent leaves are shown as such. Plain ASCII.
[[nodiscard]] std::string table(const machine::Machine& machine);

}  // namespace gputomo::report
