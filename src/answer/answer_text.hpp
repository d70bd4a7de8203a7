// Shows an answer as text for the terminal and as JSON.
#pragma once

#include "answer/answer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gputomo::answer {

/// For the terminal: time, what limits it, occupancy, bytes, hot instructions, and what all of that rests on. Parts
/// that the answer does not have are left out.
[[nodiscard]] std::string answer_text(const Answer& answer);
/// All executed instructions in the order of the code, with what warps wait for at each.
[[nodiscard]] std::string instructions_text(const Answer& answer);
/// Schema gputomo-answer-1. What the answer does not know is null.
[[nodiscard]] nlohmann::ordered_json answer_json(const Answer& answer);

}  // namespace gputomo::answer
