// Turns the journals that the processes of a program wrote into a capture.
#pragma once

#include "capture/capture.hpp"

#include <filesystem>

namespace gputomo::capture {

/// Reads the journals in `journals` and writes modules, memory and index below `folder`, which exists and is empty.
/// A last line that is cut off, as a killed process leaves it, is ignored. Throws InputError naming file and line.
Capture assemble(const std::filesystem::path& journals, const std::filesystem::path& folder, Header header);

}  // namespace gputomo::capture
