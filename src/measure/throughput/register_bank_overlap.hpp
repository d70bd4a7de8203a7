// How often two kinds of instruction use the same register bank, whose registers cannot be read or written at once.
#pragma once

#include "sass/machine_code.hpp"

#include <optional>
#include <string_view>

namespace gputomo::measure {

/// The probability that an operand of `other` lies in the bank of an operand of `arithmetic`, over all pairs of such
/// instructions inside loops. It is the mean of the probabilities for reads and for writes. Banks are the even and the
/// odd registers, as since compute capability 7.0; a wide operand lies in both. nullopt if the code lacks either kind.
[[nodiscard]] std::optional<double> register_bank_overlap(const sass::KernelCode& code, std::string_view arithmetic,
                                                          std::string_view other);

}  // namespace gputomo::measure
