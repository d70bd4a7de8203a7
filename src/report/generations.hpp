// Which GPU a report compares with: that of the generation before.
#pragma once

#include "machine/machine.hpp"

#include <span>

namespace gputomo::report {

/// The newest of `known` that belongs to the generation right before the machine's own. Null if none of them does: an
/// older GPU is no measure of what a generation changed. Null, too, if the machine's compute capability is unknown.
[[nodiscard]] const machine::Machine* generation_before(const machine::Machine& machine,
                                                        std::span<const machine::Machine> known);

}  // namespace gputomo::report
