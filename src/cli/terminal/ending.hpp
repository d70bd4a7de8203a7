// How a scan ended, as the error that gives it its exit code.
#pragma once

#include "scan/runner.hpp"

#include <string_view>

namespace gputomo::cli {

/// Throws Interrupted, TimeLimitError, DeviceError or Error for the first experiment that was interrupted or failed;
/// nothing where all are done.
void throw_unless_done(const scan::Scan& scan, std::string_view when_interrupted);

}  // namespace gputomo::cli
