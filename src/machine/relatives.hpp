// Stands in for operations that a description lacks: the most similar operation that it has.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <utility>

namespace gputomo::machine {

/// The entry of machine.operations for a PTX mnemonic. If it has none of its own, it gets the first described one of
/// its family in the table of relatives.cpp, and null if there is none.
[[nodiscard]] const std::pair<const std::string, Operation>* nearest_operation(const Machine& machine,
                                                                               const std::string& mnemonic);

}  // namespace gputomo::machine
