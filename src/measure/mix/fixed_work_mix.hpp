// A mix in which each warp does the same work, however long that takes, as in most kernels (Volkov 2016, 5.5 and 5.9).
#pragma once

#include "measure/mix/linked_array.hpp"
#include "measure/mix/mix_shape.hpp"
#include "measure/residency/occupancy_control.hpp"
#include "measure/residency/occupancy_history.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// Launches in which every warp makes the same number of loop iterations; each records its start and end.
class FixedWorkMix {
public:
    /// `shape` has one kind of instruction only. Loads from global memory read `array`; other kinds do not use it.
    FixedWorkMix(device::Device& device, const MixShape& shape, LinkedArray& array);

    struct Work {
        BlockShape blocks;
        int rounds =
            /// blocks relative to those that SMs hold at once: 1 for persistent threads, more to oversubscribe the GPU
            1;
        std::uint32_t iterations = 1;  ///< loop iterations of each warp
    };
    [[nodiscard]] std::vector<WarpLifetime> run(const Work& work);
    /// Instructions of the mix per cycle and SM: all of them over the time of the SM that took longest.
    [[nodiscard]] double rate(const Work& work, const OccupancyHistory& history) const;
    /// Loop iterations in which one warp on each SM takes about this many cycles.
    [[nodiscard]] std::uint32_t iterations_for(double cycles);
    [[nodiscard]] const MixShape& shape() const { return shape_; }
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    device::Device& device_;
    MixShape shape_;
    LinkedArray& array_;
    CompiledKernel kernel_;
    std::uint32_t sms_;
};

/// Arguments: those of line_parameters(), iterations (u32), zero (f32), records (u64).
[[nodiscard]] ptx::KernelBuilder fixed_work_mix_kernel(ptx::Target target, const MixShape& shape);

}  // namespace gputomo::measure
