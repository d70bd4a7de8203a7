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

/// How many times a small kernel of this class was off at most, on a GPU of this name. Where no such GPU was measured,
/// all measured ones count. The column "METHOD worst" of the tables with "own_gpu" has the ratio of answered to
/// measured cycles that is farthest from 1.
[[nodiscard]] double worst_factor(std::string_view class_of_kernels, Method method, std::string_view gpu);

}  // namespace gputomo::answer
