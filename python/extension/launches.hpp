// Launches for Python: made of code and arguments, or from a capture.
#pragma once

#include "capture/capture.hpp"
#include "launch/launch.hpp"

#include <nanobind/nanobind.h>

#include <memory>

namespace gputomo::python {

/// A launch with what its buffers read from.
struct HeldLaunch {
    launch::Launch launch;
    std::shared_ptr<const capture::Capture> capture;  ///< of a captured launch
};

/// Adds Launch, Capture, kernels_in() and kernel_code() to the module.
void bind_launches(nanobind::module_& module);

}  // namespace gputomo::python
