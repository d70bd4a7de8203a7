// Instructions per cycle of mixes: without the loop's control, or from several samples.
#pragma once

#include "experiments/experiment.hpp"
#include "measure/mix/mix_throughput.hpp"

#include <optional>

namespace gputomo::experiments {

/// One kind of instruction, without the loop's control.
class ControlFreeMix {
public:
    ControlFreeMix(Context& context, const MixShape& shape, LinkedArray& array, Outcome& outcome);

    /// Instructions per cycle of one SM with this many warps; nothing if the occupancy was not attained.
    [[nodiscard]] std::optional<double> instructions_per_cycle(int warps);

private:
    MixThroughput whole_, half_;
};

/// Several samples at each occupancy: their mean, or the fastest for a peak (Volkov 2016, 6.3: "the best throughput
/// attained").
class RepeatedMix {
public:
    enum class Counts { mean, fastest };

    RepeatedMix(Context& context, const MixShape& shape, LinkedArray& array, Counts counts)
        : mix_(context.device, shape, array), counts_(counts) {}

    /// Instructions per cycle of one SM with this many warps; nothing if the occupancy was not attained.
    [[nodiscard]] std::optional<double> instructions_per_cycle(int warps);
    [[nodiscard]] const CompiledKernel& compiled() const { return mix_.compiled(); }

private:
    MixThroughput mix_;
    Counts counts_;
};

}  // namespace gputomo::experiments
