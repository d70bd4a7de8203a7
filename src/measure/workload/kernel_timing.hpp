// Throughput of any kernel against occupancy: the same launch with as much shared memory as lets a given number of
// blocks stay on an SM.
#pragma once

#include "device/device.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace gputomo::measure {

/// A kernel and what it is launched with.
struct KernelLaunch {
    device::Dim3 grid;
    device::Dim3 block;
    Bytes dynamic_shared{0};  ///< that the kernel itself uses
    device::Arguments arguments;
};

/// Of one occupancy.
struct KernelSample {
    int blocks = 0;              ///< of an SM
    int warps = 0;               ///< of an SM
    double warps_per_cycle = 0;  ///< finished by an SM
    double sm_mhz = 0;           ///< meanwhile
};

/// Shared memory, as the driver or a description tells: bytes.
struct SharedLimits {
    std::int64_t sm = 0, block = 0;
    std::int64_t reserved = 0;  ///< of each block, besides its own
};

/// What each of `blocks` asks for so that they fit an SM and not one more, as little as that takes: what is left of a
/// common array is the L1's.
[[nodiscard]] std::int64_t shared_that_holds(const SharedLimits& limits, int blocks);

class KernelTiming {
public:
    /// `block` and `dynamic_shared` as every launch will have them. Throws DeviceError where not one block fits an SM.
    KernelTiming(device::Device& device, device::Kernel& kernel, const device::Dim3& block, Bytes dynamic_shared);

    /// Blocks that fit an SM by threads, registers and shared memory, as the driver tells of them.
    [[nodiscard]] int most_blocks() const { return most_blocks_; }
    [[nodiscard]] int warps_of_block() const { return warps_; }
    /// Numbers of blocks from few to all that an SM holds: five where there are so many.
    [[nodiscard]] std::vector<int> occupancies() const;

    /// Time of one launch with at most so many blocks on an SM. Errors as device::Kernel::launch.
    [[nodiscard]] Nanoseconds time(const KernelLaunch& launch, int blocks);
    /// Of the blocks by which `whole` exceeds `part`, so that neither starting nor ending a launch counts; of `whole`
    /// alone where `part` has none. `before` runs ahead of each launch.
    [[nodiscard]] KernelSample sample(const KernelLaunch& whole, const KernelLaunch& part, int blocks,
                                      const std::function<void()>& before = {});

private:
    /// Dynamic shared memory with which `blocks` fit an SM and not one more.
    [[nodiscard]] Bytes shared_for(int blocks, Bytes least) const;

    device::Device& device_;
    device::Kernel& kernel_;
    device::KernelProperties properties_;
    std::int64_t sms_ = 1;
    int warps_ = 1;
    int most_blocks_ = 1;
};

}  // namespace gputomo::measure
