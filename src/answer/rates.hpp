// What a launch computes and moves in a second, beside what the GPU can.
#pragma once

#include "answer/answer.hpp"
#include "machine/machine.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace gputomo::answer {

/// The most operations of a type that the whole GPU computes in a second; nullopt where that is not described.
using FlopCeiling = std::function<std::optional<double>(std::string_view type)>;

/// The ceilings of operations that no tensor core computes: twice the rate of fused multiply-adds.
[[nodiscard]] std::optional<double> flop_ceiling(const machine::Machine& machine, std::string_view type);

/// Fills in the rates and the roofline of an answer that has its time and its work.
void fill_rates(Answer& answer, const machine::Machine& machine, const FlopCeiling& ceiling);

}  // namespace gputomo::answer
