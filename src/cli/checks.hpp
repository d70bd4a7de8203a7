// What options accept, where CLI11's own checks are not enough.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace gputomo::cli {

/// CLI11 wraps -1 round to a large number.
inline const CLI::Validator kSeeds(
    [](const std::string& text) { return text.starts_with('-') ? "found " + text + "; expected a whole number of 0 or more" : std::string(); }, "");

}  // namespace gputomo::cli
