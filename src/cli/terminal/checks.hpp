// What options accept, where CLI11's own checks are not enough.
#pragma once

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

namespace gputomo::cli {

/// CLI11 wraps -1 round to a large number.
inline const CLI::Validator kSeeds(
    [](const std::string& text) {
        return text.starts_with('-') ? "found " + text + "; expected a whole number of 0 or more" : std::string();
    },
    "");

/// CLI11 takes nan for a number in any range. `expected`: of the option, for people.
inline CLI::Validator is_number(std::string expected) {
    return {[expected = std::move(expected)](const std::string& text) {
                return std::isnan(std::strtod(text.c_str(), nullptr)) ? "found " + text + "; expected " + expected
                                                                      : std::string();
            },
            ""};
}

}  // namespace gputomo::cli
