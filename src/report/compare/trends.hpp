// Shows how GPUs changed from generation to generation, as bars in the order of compute capability.
#pragma once

#include "report/compare/side_by_side.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gputomo::report {

/// The section with the bars, and `figures` below them. Empty where no trend has two GPUs and `figures` is empty.
[[nodiscard]] std::string trends(std::span<const Described> columns, std::string_view figures = {});

}  // namespace gputomo::report
