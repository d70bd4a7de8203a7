// Stands in for operations that a description lacks: the most similar operation that it has.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <utility>

namespace gputomo::machine {

/// The entry of machine.operations for a PTX mnemonic: its own, or else the first described one of its family in the
/// table of relatives.cpp; null if the description has no operation of the family.
[[nodiscard]] const std::pair<const std::string, Operation>* nearest_operation(const Machine& machine,
                                                                               const std::string& mnemonic);

}  // namespace gputomo::machine
