// The launches of a capture that a command line chooses.
#pragma once

#include "capture/capture.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gputomo::cli {

/// Launches by their numbers, or else all that have memory: of `kernel`, or of any kernel where that is empty. Throws
/// InputError for a number that the capture lacks, or where no launch is left. `file` names the capture in errors.
[[nodiscard]] std::vector<std::size_t> chosen_launches(const capture::Capture& captured, const std::string& file,
                                                       const std::string& kernel, const std::vector<int>& numbers);

}  // namespace gputomo::cli
