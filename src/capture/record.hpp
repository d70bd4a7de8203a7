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

/// What became of a recording.
struct Recorded {
    Capture capture;                ///< its folder is empty where no launch was recorded, and nothing is written then
    bool interrupted = false;       ///< a signal ended the program, or this process was asked to end
    bool interrupted_here = false;  ///< this process was asked to end, by Ctrl-C or SIGTERM
    bool keeps_older = false;       ///< the folder had a capture before, which is unchanged
};

/// Runs the program and writes the capture over an older one. Where the program launched nothing that was recorded, an
/// older capture stays. Where it was interrupted, an older capture stays too, and the new one is written to
/// files::kPartialFolder within its folder. An earlier folder of that name is set aside. Throws InputError when the
/// folder holds something else, the program cannot be started or an option is wrong.
[[nodiscard]] Recorded record(const Options& options);

/// "FIRST[:COUNT]" as a selection. Throws InputError.
[[nodiscard]] Selection selection(const std::string& text);

}  // namespace gputomo::capture
