// An answer as dicts. A new field of answer::Answer is one row in answer_rows.cpp and one field in gputomo/answers.py.
#pragma once

#include "answer/answer.hpp"

#include <nanobind/nanobind.h>

namespace gputomo::python {

[[nodiscard]] nanobind::dict rows_of(const answer::Answer& answer);

}  // namespace gputomo::python
