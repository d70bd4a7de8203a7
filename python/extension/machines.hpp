// Machine descriptions for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace gputomo::python {

/// Adds Machine, Gpu and diff() to the module.
void bind_machines(nanobind::module_& module);

}  // namespace gputomo::python
