// The command line: parses, dispatches to one file per command, turns errors into exit codes.
#pragma once

namespace gputomo::cli {

/// Exit codes of the contract: 0 done, 1 different or failed, 2 bad input, 3 device failed, 4 time limit, 130
/// interrupted.
int run(int argc, const char* const* argv);

}  // namespace gputomo::cli
