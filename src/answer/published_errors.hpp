// How far answers were off for kernels that they were not made with, as docs/results/accuracy.json publishes it.
#pragma once

#include "answer/answer.hpp"

#include <optional>
#include <string_view>

namespace gputomo::answer {

/// The text of docs/results/accuracy.json.
[[nodiscard]] std::string_view published_accuracy();

/// Where 90% of the measured cycles lie beside `cycles` of this method on a GPU of this name. The column "90th
/// percentile" of the table whose "gpu" is part of the name has the error q of 90% of the kernels, over their measured
/// cycles. These then lie between cycles / (1 + q) and cycles / (1 - q). nullopt where no table is of this GPU.
[[nodiscard]] std::optional<Interval> interval_of(double cycles, Method method, std::string_view gpu);

}  // namespace gputomo::answer
