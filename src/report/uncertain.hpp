// What a description leaves open: undecided leaves, and what the scan warned of.
#pragma once

#include "report/html.hpp"
#include "report/parts/text.hpp"

#include <string>

namespace gputomo::report {

/// Counts the undecided leaves, names what they belong to, and folds the list and the warnings away. Empty where
/// everything is decided and nothing was warned of.
[[nodiscard]] std::string uncertain(const Facts& facts, const Page& page);

}  // namespace gputomo::report
