// Registers that instructions compete for: whose lie in one bank cannot be read or written at once.
#pragma once

#include "device/machine_code.hpp"

#include <optional>
#include <string_view>

namespace gputomo::measure {

/// How often an operand of `other` lies in the bank of an operand of `arithmetic`, where any of the one kind meets any
/// of the other: the mean over what is read and what is written, of the instructions inside loops. Banks are even and
/// odd registers, as since compute capability 7.0; a wide operand lies in both. Nothing where either kind is missing.
[[nodiscard]] std::optional<double> register_bank_overlap(const device::KernelCode& code, std::string_view arithmetic,
                                                          std::string_view other);

}  // namespace gputomo::measure
