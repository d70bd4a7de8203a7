// Predictions and simulations for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace gputomo::python {

/// Adds predict() and simulate() to the module.
void bind_answers(nanobind::module_& module);

}  // namespace gputomo::python
