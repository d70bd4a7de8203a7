// Warps that each do the same work, however long it takes: what most kernels do (Volkov 2016, 5.5 and 5.9).
#pragma once

#include "measure/mix/linked_array.hpp"
#include "measure/mix/mix_shape.hpp"
#include "measure/residency/occupancy_control.hpp"
#include "measure/residency/occupancy_history.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

class FixedWorkMix {
public:
    /// `shape` is one kind of instruction alone; `array` is what loads from memory walk through. Others don't use it.
    FixedWorkMix(device::Device& device, const MixShape& shape, LinkedArray& array);

    struct Work {
        BlockShape blocks;
        int rounds =
            1;  ///< times as many blocks as SMs hold at once: 1 are persistent threads, more oversubscribe the GPU
        std::uint32_t iterations = 1;  ///< of each warp
    };
    [[nodiscard]] std::vector<WarpLifetime> run(const Work& work);
    /// The instruction that is repeated, per cycle and SM: of all that was done, in the time of the SM that took
    /// longest.
    [[nodiscard]] double rate(const Work& work, const OccupancyHistory& history) const;
    /// Turns of which one warp on each SM alone takes so many cycles.
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

/// Arguments: those of the lines, turns (u32), zero (f32), records (u64).
[[nodiscard]] ptx::KernelBuilder fixed_work_mix_kernel(ptx::Target target, const MixShape& shape);

}  // namespace gputomo::measure
