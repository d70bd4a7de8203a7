// Shows findings as a table, each linked to its method and its evidence.
#pragma once

#include "report/html.hpp"

#include <string>
#include <vector>

namespace gputomo::report {

/// Shows value, confidence, interval and method of each leaf. Where a section describes more than kManyThings things,
/// such as operations, each thing has one row, and the details are folded below.
[[nodiscard]] std::string leaf_table(const std::vector<machine::NamedLeaf>& leaves, const machine::Machine& machine,
                                     const Facts& facts, const Page& page);

}  // namespace gputomo::report
