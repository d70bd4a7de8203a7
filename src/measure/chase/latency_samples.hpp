// Latencies of single loads of one warp on each SM while all warps stream (Volkov 2016, 6.6).
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "measure/mix/linked_array.hpp"
#include "measure/residency/occupancy_control.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace gputomo::measure {

/// All warps follow chains of pointers, each load waiting for the last. The first warp of as many blocks as there are
/// SMs times one load of each kSampledOf, keeps the times in shared memory and writes them out when it is through.
/// Arguments: those of the lines, turns, samplers (blocks), records, samples.
[[nodiscard]] ptx::KernelBuilder latency_samples_kernel(ptx::Target target);

class LatencySamples {
public:
    /// `array` is a stream of at least kLines lines for each warp that the GPU holds.
    LatencySamples(device::Device& device, LinkedArray& array);

    /// One launch with `warps` on each SM; adds the latencies of its middle half to `histogram` (cycles to number). The
    /// warps' loads per cycle, on all SMs together; nullopt where the occupancy was not attained. Throws DeviceError
    /// where a pointer came out other than it must.
    [[nodiscard]] std::optional<double> launch(int warps, std::map<std::int64_t, std::int64_t>& histogram);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

    static constexpr int kSampledOf = 8;
    static constexpr std::int64_t kTurns = 127;
    /// That a warp reads.
    static constexpr std::int64_t kLines = (kTurns + 1) * kSampledOf;

private:
    device::Device& device_;
    LinkedArray& array_;
    CompiledKernel kernel_;
    std::int64_t sms_ = 1;
    device::Buffer records_;
    device::Buffer samples_;
};

}  // namespace gputomo::measure
