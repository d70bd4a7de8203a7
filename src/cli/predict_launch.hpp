// `gputomo predict` of a launch: executes sampled blocks of it and predicts its time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::cli {

struct LaunchOptions {
    std::string file, kernel, machine;
    std::string grid = "1", block = "1";  ///< X[,Y,Z]
    std::vector<std::string> arguments;
    std::vector<int> launches;  ///< of a capture
    std::int64_t shared = 0;    ///< bytes
    std::uint64_t seed = 1;
    std::int64_t time_limit_ms = 60'000;
    bool json = false;
};

/// Whether a file is a cubin, which can only be executed.
[[nodiscard]] bool is_cubin_file(const std::string& file);

/// Returns the exit code.
int predict_launch_of_file(const LaunchOptions& options);
/// All chosen launches of a capture. Returns 1 where one cannot be predicted and others can.
int predict_launches_of_capture(const LaunchOptions& options);

}  // namespace gputomo::cli
