// The cards of the first screen: what a performance engineer asks first.
#pragma once

#include "report/html.hpp"
#include "report/parts/text.hpp"

#include <string>

namespace gputomo::report {

/// Each card has a value, what it is, and a link to its leaf; where an earlier GPU is described, also that GPU's value.
[[nodiscard]] std::string cards(const Facts& facts, const machine::Machine& machine, const Page& page);

}  // namespace gputomo::report
