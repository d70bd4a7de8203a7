// Turns the journals that the processes of a program wrote into a capture.
#pragma once

#include "capture/capture.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace gputomo::capture {

/// What the command knows of the run.
struct Run {
    std::vector<std::string> command;
    int exit_code = 0;
    double wall_seconds = 0;
    std::string version, commit;  ///< of gputomo
    std::string date;             ///< UTC
};

/// Reads the journals in `journals` and writes modules, memory and index below `folder`, which exists and is empty.
/// A last line that is cut off, as a killed process leaves it, is ignored. Throws InputError naming file and line.
Capture assemble(const std::filesystem::path& journals, const std::filesystem::path& folder, const Run& run);

}  // namespace gputomo::capture
