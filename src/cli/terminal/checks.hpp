// Checks of option values that CLI11 does not have.
#pragma once

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

namespace gputomo::cli {

/// Refuses negative numbers, which CLI11 would wrap around to large unsigned ones.
inline const CLI::Validator kSeeds(
    [](const std::string& text) {
        return text.starts_with('-') ? "found " + text + "; expected a whole number of 0 or more" : std::string();
    },
    "");

/// Refuses nan, which CLI11 accepts as a number in any range. `expected` says for people what the option takes.
inline CLI::Validator is_number(std::string expected) {
    return {[expected = std::move(expected)](const std::string& text) {
                return std::isnan(std::strtod(text.c_str(), nullptr)) ? "found " + text + "; expected " + expected
                                                                      : std::string();
            },
            ""};
}

}  // namespace gputomo::cli
