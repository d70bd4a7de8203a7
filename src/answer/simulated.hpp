// Replays a captured launch on a simulated GPU, with timing.
#pragma once

#include "capture/capture.hpp"
#include "launch/captured/replayed_launch.hpp"
#include "sim/simulator.hpp"
#include "units/quantity.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gputomo::answer {

struct Simulated {
    Nanoseconds elapsed{0};
    sim::Counters counters;
    sim::ExecutedCode code;
    sim::SampledBlocks blocks;
    /// Where memory differs from what the GPU left; only where it was asked for.
    std::vector<launch::Difference> differences;
};

struct SimulationRequest {
    std::chrono::milliseconds time_limit{60'000};
    bool compares_results = false;  ///< which needs the whole launch
    std::optional<sim::SamplingPlan> sampling{};
};

/// Makes a GPU that has run nothing.
using GpuMaker = std::function<std::unique_ptr<sim::SimulatedDevice>()>;

/// Runs the launch with its memory at its own addresses, on a new GPU. A launch that fails because only a sample of its
/// blocks is simulated runs again as a whole. Throws InputError that names what the capture lacks, and DeviceError or
/// TimeLimitError as device::Kernel::launch() does.
[[nodiscard]] Simulated simulate(const GpuMaker& make_gpu, const capture::Capture& capture,
                                 const capture::Launch& launch, const SimulationRequest& request);

}  // namespace gputomo::answer
