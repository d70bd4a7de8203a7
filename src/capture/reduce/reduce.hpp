// Reduces a capture: memory whose content decides neither what is executed nor where it reads and writes is left out.
#pragma once

#include "capture/capture.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::capture {

struct ReduceOptions {
    std::filesystem::path in, out;
    std::string kernels;                   ///< POSIX extended regular expression; empty: all
    std::vector<std::uint64_t> launches;   ///< by number in the capture; empty: all that have memory
    std::chrono::seconds time_limit{600};  ///< for each launch
    /// Also leave out large buffers of launches that cannot be executed here, or not in time.
    bool unproven = false;
    Writer writer;
};

/// Writes a smaller capture with the launches that have memory, and returns it. Throws InputError when the folder to
/// read is no capture, the one to write is the same or holds something else, or no launch has memory.
[[nodiscard]] Capture reduce(const ReduceOptions& options);

}  // namespace gputomo::capture
