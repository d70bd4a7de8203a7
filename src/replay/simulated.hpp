// Replays a captured launch on a simulated GPU, with timing.
#pragma once

#include "capture/capture.hpp"
#include "replay/replayed_launch.hpp"
#include "sim/simulator.hpp"
#include "units/quantity.hpp"

#include <chrono>
#include <vector>

namespace gputomo::replay {

struct Simulated {
    Nanoseconds elapsed{0};
    sim::Counters counters;
    sim::ExecutedCode code;
    /// Where memory differs from what the GPU left; only where it was asked for.
    std::vector<Difference> differences;
};

/// Runs the launch with its memory at its own addresses, on a GPU that has run nothing before. Throws InputError that
/// names what the capture lacks, and DeviceError or TimeLimitError as device::Kernel::launch() does.
[[nodiscard]] Simulated simulate(sim::SimulatedDevice& gpu, const capture::Capture& capture,
                                 const capture::Launch& launch, std::chrono::milliseconds time_limit,
                                 bool compares_results);

}  // namespace gputomo::replay
