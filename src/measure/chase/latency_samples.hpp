// Latencies of single loads of one warp on each SM while all warps stream from memory (Volkov 2016, 6.6).
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "measure/mix/linked_array.hpp"
#include "measure/residency/occupancy_control.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace gputomo::measure {

/// All warps follow chains of pointers, so each load waits for the one before. There are as many sampler blocks as
/// SMs. The first warp of a sampler times one load in kSampledOf, keeps the times in shared memory and writes them out
/// at its end. Arguments: those of line_parameters(), iterations (u32), samplers (u32, blocks), records (u64), samples
/// (u64).
[[nodiscard]] ptx::KernelBuilder latency_samples_kernel(ptx::Target target);

/// Collects the latencies of single loads into histograms, launch by launch.
class LatencySamples {
public:
    /// `array` is a stream of at least kLines lines for each warp that the GPU holds.
    LatencySamples(device::Device& device, LinkedArray& array);

    /// Makes one launch with `warps` on each SM and adds the latencies of its middle half to `histogram` (cycles to
    /// count). Returns the loads of warps per cycle, all SMs together; nullopt if the occupancy was not attained.
    /// Throws DeviceError if a pointer ends at the wrong place.
    [[nodiscard]] std::optional<double> launch(int warps, std::map<std::int64_t, std::int64_t>& histogram);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

    /// One load in this many is timed. More would disturb the stream by their clock reads; fewer would need more
    /// launches.
    static constexpr int kSampledOf = 8;
    /// Samples of a warp; each loop iteration takes one.
    static constexpr std::int64_t kSamples = 127;
    /// Lines that a warp reads.
    static constexpr std::int64_t kLines = (kSamples + 1) * kSampledOf;

private:
    device::Device& device_;
    LinkedArray& array_;
    CompiledKernel kernel_;
    std::int64_t sms_ = 1;
    device::Buffer records_;
    device::Buffer samples_;
};

}  // namespace gputomo::measure
