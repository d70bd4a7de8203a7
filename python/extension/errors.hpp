// Turns gputomo's exceptions into those of the Python package, with the same messages.
#pragma once

#include <nanobind/nanobind.h>

namespace gputomo::python {

/// The classes are those of the module gputomo.errors.
void translate_errors();

}  // namespace gputomo::python
