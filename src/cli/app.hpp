// The command line as a whole: parses it, runs the chosen command, and turns errors into exit codes.
#pragma once

namespace gputomo::cli {

/// Runs one command line and returns its exit code (cli/terminal/exits.hpp). Errors are printed to standard error.
int run(int argc, const char* const* argv);

}  // namespace gputomo::cli
