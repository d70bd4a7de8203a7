// Simulating only a sample of a launch's blocks: what is asked for, and how far the result may be off.
#pragma once

#include "units/error.hpp"

#include <cstdint>

namespace gputomo::sim {

/// Which launches are sampled (docs/methods/prediction-of-launches.md).
struct SamplingPlan {
    /// Launches that would execute more warp instructions than this. It counts no host time, so that a slow computer
    /// samples the same launches as a fast one.
    std::uint64_t above = 0;
};

/// How much of a launch was simulated.
struct SampledBlocks {
    std::uint64_t simulated = 0;
    std::uint64_t of = 0;
    double error = 0;  ///< half width of the 95% confidence interval of the cycles, over the cycles
    [[nodiscard]] bool complete() const { return simulated == of; }
};

/// A sampled launch failed after blocks had been skipped, perhaps because other blocks need their results. The whole
/// launch has to be simulated.
class SamplingError : public DeviceError {
public:
    using DeviceError::DeviceError;
};

/// A launch was given up because it executed too many instructions.
class InstructionLimitError : public TimeLimitError {
public:
    using TimeLimitError::TimeLimitError;
};

}  // namespace gputomo::sim
