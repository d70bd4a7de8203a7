// Which GPU a report compares with: that of the generation before.
#pragma once

#include "machine/machine.hpp"

#include <span>

namespace gputomo::report {

/// The newest of `known` of the generation before: its compute capability is smaller, and none of `known` with the
/// machine's own capability has its architecture. Null if there is none or if the machine's compute capability is
/// unknown.
[[nodiscard]] const machine::Machine* generation_before(const machine::Machine& machine,
                                                        std::span<const machine::Machine> known);

}  // namespace gputomo::report
