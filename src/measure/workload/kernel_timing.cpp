#include "measure/workload/kernel_timing.hpp"

#include "measure/kernel/device_facts.hpp"
#include "units/error.hpp"
#include "units/statistics.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gputomo::measure {
namespace {

using enum device::Attribute;

/// Launches after one that warms instruction caches and TLBs; the median counts.
constexpr int kTimingLaunches = 7;
/// Beside 200,000 instructions of warps the first launch's misses do not matter, so one launch is enough. Only a
/// simulated GPU counts them, and takes about a tenth of a second for this number.
constexpr std::uint64_t kLongLaunch = 200'000;
/// Registers are allocated to warps in such units on all GPUs since Fermi (Volkov 2016, 5.7, and `register_file` for
/// those in machines/).
constexpr std::int64_t kRegisterUnit = 256;
/// Shared memory is allocated in units of this size or of a divisor of it.
constexpr std::int64_t kSharedUnit = 256;
/// Shares of the most blocks: an eighth, where latency is the limit, and quarters.
constexpr std::array kShares{0.125, 0.25, 0.5, 0.75, 1.0};

SharedLimits shared_limits(const device::Device& device) {
    SharedLimits limits;
    limits.sm = device.attribute(max_shared_memory_per_multiprocessor)
                    .value_or(device.attribute(max_shared_memory_per_block).value_or(16384));
    limits.block = std::max(device.attribute(max_shared_memory_per_block).value_or(limits.sm),
                            device.attribute(max_shared_memory_per_block_optin).value_or(0));
    // Shared memory of an SM that a single block cannot have is taken to be reserved for each block, if it is at most
    // this.
    constexpr std::int64_t kMostReserved = 4096;
    if (limits.sm > limits.block && limits.sm - limits.block <= kMostReserved)
        limits.reserved = limits.sm - limits.block;
    return limits;
}

}  // namespace

std::int64_t shared_that_holds(const SharedLimits& limits, int blocks) {
    return std::min(limits.sm / (blocks + 1) / kSharedUnit * kSharedUnit + kSharedUnit - limits.reserved, limits.block);
}

KernelTiming::KernelTiming(device::Device& device, device::Kernel& kernel, const device::Dim3& block,
                           Bytes dynamic_shared)
    : device_(device), kernel_(kernel), properties_(kernel.properties()), sms_(sms_of(device)) {
    warps_ = static_cast<int>((block.count() + kWarpSize - 1) / kWarpSize);
    std::int64_t blocks =
        device.attribute(max_threads_per_multiprocessor).value_or(1024) / (std::int64_t{warps_} * kWarpSize);
    blocks = std::min(blocks, device.attribute(max_blocks_per_multiprocessor).value_or(blocks));
    const std::int64_t registers = (std::int64_t{properties_.registers_per_thread} * kWarpSize + kRegisterUnit - 1) /
                                   kRegisterUnit * kRegisterUnit * warps_;
    if (const auto file = device.attribute(max_registers_per_multiprocessor); file && registers > 0)
        blocks = std::min(blocks, *file / registers);
    const SharedLimits limits = shared_limits(device);
    if (const auto shared = (properties_.static_shared + dynamic_shared).count(); shared > 0)
        blocks = std::min(blocks, limits.sm / (shared + limits.reserved));
    if (blocks < 1)
        throw DeviceError(
            fmt::format("{}: a block of {} threads of kernel {} exceeds an SM's threads, registers or shared memory",
                        device.name(), block.count(), kernel.name()));
    most_blocks_ = static_cast<int>(blocks);
}

std::vector<int> KernelTiming::occupancies() const {
    std::vector<int> found;
    for (const double share : kShares)
        if (const int blocks = std::max(1, static_cast<int>(std::lround(share * most_blocks_)));
            found.empty() || blocks > found.back())
            found.push_back(blocks);
    return found;
}

Bytes KernelTiming::shared_for(int blocks, Bytes least) const {
    if (blocks >= most_blocks_) return least;
    return Bytes{
        std::max(least.count(), shared_that_holds(shared_limits(device_), blocks) - properties_.static_shared.count())};
}

device::LaunchResult KernelTiming::launch(const KernelLaunch& launch, int blocks) {
    device::Launch each{.grid = launch.grid,
                        .block = launch.block,
                        .dynamic_shared = shared_for(blocks, launch.dynamic_shared),
                        .arguments = launch.arguments};
    return kernel_.launch(each);
}

KernelSample KernelTiming::sample(const KernelLaunch& whole, const KernelLaunch& part, int blocks,
                                  const std::function<void()>& before) {
    const bool difference = part.grid.count() > 0;
    const auto usual = [&](const KernelLaunch& each) {
        std::vector<double> times;
        for (int i = 0; i <= kTimingLaunches; ++i) {
            if (before) before();
            const auto result = launch(each, blocks);
            if (result.warp_instructions.value_or(0) > kLongLaunch) return result.elapsed.count();
            if (i > 0) times.push_back(result.elapsed.count());
        }
        return median(times);
    };
    const double nanoseconds = usual(whole) - (difference ? usual(part) : 0);
    const double mhz = current_sm_mhz(device_), cycles = nanoseconds * mhz / 1000;
    const auto count = static_cast<double>(whole.grid.count() - (difference ? part.grid.count() : 0)) * warps_;
    return {.blocks = blocks,
            .warps = blocks * warps_,
            .warps_per_cycle = count / (cycles * static_cast<double>(sms_)),
            .sm_mhz = mhz};
}

}  // namespace gputomo::measure
