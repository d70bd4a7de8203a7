// Turns the way a scan ended into the error that gives the command its exit code.
#pragma once

#include "scan/runner.hpp"

#include <string_view>

namespace gputomo::cli {

/// Throws Interrupted, TimeLimitError, DeviceError or Error for the first experiment that was interrupted or failed.
/// Returns where all are done. `when_interrupted` is the message of an interruption.
void throw_unless_done(const scan::Scan& scan, std::string_view when_interrupted);

}  // namespace gputomo::cli
