// Says in words what an answer's numbers say.
#pragma once

#include "answer/answer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gputomo::answer {

/// Where the time of an answer with a limiter goes; the sum is the time.
[[nodiscard]] std::vector<TimePart> parts_of(const Answer& answer);

/// What takes the time of an answer with a limiter and an occupancy, on a GPU of `sms` SMs.
[[nodiscard]] std::string summary_of(const Answer& answer, double sms);

/// "3.08 TB", "412 MB"; units of 1000.
[[nodiscard]] std::string in_units(double value, std::string_view unit);

}  // namespace gputomo::answer
