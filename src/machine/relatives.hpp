// What an operation costs that a description lacks: as much as the nearest relative that it has.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <utility>

namespace gputomo::machine {

/// The row of machine.operations for a PTX mnemonic: its own, else the nearest described one of its family
/// (relatives.cpp lists them); nullptr where none is described.
[[nodiscard]] const std::pair<const std::string, Operation>* nearest_operation(const Machine& machine,
                                                                               const std::string& mnemonic);

}  // namespace gputomo::machine
