// Simulates what a launch costs, block by block on a simulated GPU.
#pragma once

#include "answer/answer.hpp"
#include "answer/gpu.hpp"
#include "launch/launch.hpp"
#include "launch/placed_launch.hpp"
#include "sim/sm/sampling/sampling_plan.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace gputomo::answer {

struct SimulationRequest {
    std::uint64_t seed = 1;
    std::chrono::milliseconds time_limit{60'000};
    std::optional<sim::SamplingPlan> sampling{};  ///< nullopt simulates all blocks
    /// Warp instructions after which the simulation is given up with sim::InstructionLimitError; nullopt: never.
    std::optional<std::uint64_t> most_instructions{};
    bool compares_results = false;  ///< which needs all blocks
    launch::Tolerance tolerance{};  ///< of that comparison
    CachesAtStart caches{};
    bool warns_of_waits = true;  ///< of blocks for each other; false where another warning names them
    /// Sees memory after the launch, which needs all blocks.
    std::function<void(const launch::PlacedLaunch&)> after{};
};

/// Runs the launch on a GPU that has run nothing, or nothing but the launch that fills its caches. A launch that fails
/// because only a sample of its blocks is simulated runs again as a whole.
///
/// Throws InputError that names what the launch or the description lacks, Error where the kernel fails, and
/// TimeLimitError.
[[nodiscard]] Answer simulate(const launch::Launch& launch, const Gpu& gpu, const SimulationRequest& request);

}  // namespace gputomo::answer
