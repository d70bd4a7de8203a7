// Findings as a table, each linked to its method and evidence.
#pragma once

#include "report/html.hpp"

#include <string>
#include <vector>

namespace gputomo::report {

/// Value, confidence, interval and method of each leaf. Things of which there are many (operations) come as one row
/// each, with the details folded below.
[[nodiscard]] std::string leaf_table(const std::vector<machine::NamedLeaf>& leaves, const Page& page);

}  // namespace gputomo::report
