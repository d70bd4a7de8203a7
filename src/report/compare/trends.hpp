// How GPUs changed from generation to generation: bars in the order of compute capability.
#pragma once

#include "report/compare/side_by_side.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gputomo::report {

/// With `figures` below the bars. Empty where there are none, and no trend has two GPUs.
[[nodiscard]] std::string trends(std::span<const Described> columns, std::string_view figures = {});

}  // namespace gputomo::report
