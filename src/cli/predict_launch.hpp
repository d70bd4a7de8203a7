// `gputomo predict` of a launch: executes sampled blocks of it and predicts its time.
#pragma once

#include "cli/inputs/kernel_arguments.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::cli {

struct LaunchOptions {
    std::string file, kernel, machine;
    ShapeOptions shape;
    std::vector<std::string> arguments;
    std::vector<int> launches;  ///< of a capture
    std::int64_t shared = 0;    ///< bytes
    std::uint64_t seed = 1;
    std::int64_t time_limit_ms = 60'000;
    bool json = false;
};

/// Returns the exit code.
int predict_launch_of_file(const LaunchOptions& options);
/// All chosen launches of a capture. Returns 1 where one cannot be predicted and others can.
int predict_launches_of_capture(const LaunchOptions& options);

}  // namespace gputomo::cli
