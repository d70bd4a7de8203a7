// Throughput of any kernel against occupancy. Dynamic shared memory limits an SM to a given number of blocks of the
// same launch.
#pragma once

#include "device/device.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace gputomo::measure {

/// What a kernel is launched with.
struct KernelLaunch {
    device::Dim3 grid;
    device::Dim3 block;
    Bytes dynamic_shared{0};  ///< dynamic shared memory that the kernel itself uses
    device::Arguments arguments;
};

/// The throughput at one occupancy.
struct KernelSample {
    int blocks = 0;              ///< on an SM
    int warps = 0;               ///< on an SM
    double warps_per_cycle = 0;  ///< finished by an SM
    double sm_mhz = 0;           ///< SM clock during the sample
};

/// Shared memory in bytes, as the driver or a description states it.
struct SharedLimits {
    std::int64_t sm = 0, block = 0;
    std::int64_t reserved = 0;  ///< by the system in each block, besides the block's own
};

/// The smallest amount of shared memory for each block with which `blocks` blocks fit an SM and no further one. What
/// remains of a shared array is the L1's.
[[nodiscard]] std::int64_t shared_that_holds(const SharedLimits& limits, int blocks);

/// Times one kernel at several occupancies.
class KernelTiming {
public:
    /// `block` and `dynamic_shared` apply to every launch. Throws DeviceError if not even one block fits an SM.
    KernelTiming(device::Device& device, device::Kernel& kernel, const device::Dim3& block, Bytes dynamic_shared);

    /// Blocks that fit an SM by the driver's limits of threads, registers and shared memory.
    [[nodiscard]] int most_blocks() const { return most_blocks_; }
    [[nodiscard]] int warps_of_block() const { return warps_; }
    /// Up to five numbers of blocks on an SM, from few to all.
    [[nodiscard]] std::vector<int> occupancies() const;

    /// One launch with at most `blocks` blocks on an SM. Errors as device::Kernel::launch.
    [[nodiscard]] device::LaunchResult launch(const KernelLaunch& launch, int blocks);
    /// The throughput of the blocks by which `whole` exceeds `part`, so that starting and ending a launch cancel. If
    /// `part` has no blocks, all of `whole` count. `before` runs before each launch.
    [[nodiscard]] KernelSample sample(const KernelLaunch& whole, const KernelLaunch& part, int blocks,
                                      const std::function<void()>& before = {});

private:
    /// Dynamic shared memory with which `blocks` blocks fit an SM and no further one.
    [[nodiscard]] Bytes shared_for(int blocks, Bytes least) const;

    device::Device& device_;
    device::Kernel& kernel_;
    device::KernelProperties properties_;
    std::int64_t sms_ = 1;
    int warps_ = 1;
    int most_blocks_ = 1;
};

}  // namespace gputomo::measure
