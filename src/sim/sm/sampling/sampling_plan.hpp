// Simulating only a sample of a launch's blocks: what is asked for, and how far the result may be off.
#pragma once

#include "units/error.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gputomo::sim {

/// What blocks of a launch execute, as executing some of them without timing says.
struct BlockWork {
    std::vector<double> executed;  ///< warp instructions by place in the code, mean of a block
    double spread = 0;             ///< standard deviation of a block's instructions, over their mean
};

/// Which launches are sampled (docs/methods/prediction-of-launches.md).
struct SamplingPlan {
    /// Launches that would execute more warp instructions than this. It counts no host time, so that a slow computer
    /// samples the same launches as a fast one.
    std::uint64_t above = 0;
    /// Asked once where blocks are so long that leaving some out does not do. nullopt: what a block executes depends on
    /// others. Without the function, such launches are simulated whole.
    std::function<std::optional<BlockWork>()> block_work{};
};

/// How much of a launch was simulated.
struct SampledBlocks {
    /// Where the simulation ended within blocks, as many as execute what was simulated.
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
