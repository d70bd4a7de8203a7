// How GPUs changed from generation to generation: bars in the order of compute capability.
#pragma once

#include "report/compare/side_by_side.hpp"

#include <span>
#include <string>

namespace gputomo::report {

/// Empty where no trend has two GPUs.
[[nodiscard]] std::string trends(std::span<const Described> columns);

}  // namespace gputomo::report
