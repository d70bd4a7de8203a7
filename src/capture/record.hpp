// Runs a program with the recording library and makes a capture of what it launched.
#pragma once

#include "capture/capture.hpp"
#include "capture/protocol.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gputomo::capture {

struct Options {
    std::filesystem::path out;
    std::vector<std::string> command;
    std::string kernels;  ///< POSIX extended regular expression; empty records all kernels
    Selection launches;
    std::uint64_t memory = kDefaultMemory;
    bool results = false;  ///< store memory after a launch too
    Writer writer;
};

/// Runs the program and writes the capture. Throws InputError when the folder holds something else, the program cannot
/// be started or an option is wrong.
[[nodiscard]] Capture record(const Options& options);

/// "FIRST[:COUNT]" as a selection. Throws InputError.
[[nodiscard]] Selection selection(const std::string& text);

}  // namespace gputomo::capture
