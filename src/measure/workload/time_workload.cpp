#include "measure/kernel/device_facts.hpp"
#include "measure/workload/workload.hpp"

#include <algorithm>
#include <memory>

namespace gputomo::measure {
namespace {

/// A launch of this many ns is long compared with its start.
constexpr double kLongEnough = 500'000;  // ns
/// A launch of this many instructions of warps is long enough as well. Only a simulated GPU counts them, and a longer
/// launch would take the host seconds for each occupancy.
constexpr std::uint64_t kManyInstructions = 500'000;
/// Launches of each occupancy may use this fraction of the memory, and at most this many bytes.
constexpr std::int64_t kShareOfMemory = 8;
constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;
/// Factor by which the blocks grow until a launch is long enough.
constexpr std::int64_t kGrowth = 8;
/// Blocks of the first launch, relative to those that the GPU holds at once.
constexpr std::int64_t kFirstWaves = 2;

/// The workload's grid, with an even number of rows.
device::Dim3 grid_of(const Workload& workload, std::int64_t blocks) {
    const auto x = static_cast<std::uint32_t>(workload.grid_x);
    return x == 0 ? device::Dim3{static_cast<std::uint32_t>(blocks)}
                  : device::Dim3{x, static_cast<std::uint32_t>(blocks / x)};
}

/// Blocks in pairs of rows, because half of the blocks is launched too.
std::int64_t rounded(const Workload& workload, std::int64_t blocks) {
    const std::int64_t unit = 2 * std::max(1, workload.grid_x);
    return std::max(unit, blocks / unit * unit);
}

std::int64_t most_blocks(const device::Device& device, const Workload& workload) {
    using enum device::Attribute;
    constexpr double kLeastBytes = 64;  // of a thread that mainly computes
    const auto most_bytes =
        std::min(kMostBytes, device.attribute(total_memory_bytes).value_or(std::int64_t{256} << 20) / kShareOfMemory);
    const auto by_memory =
        static_cast<std::int64_t>(static_cast<double>(most_bytes) /
                                  (std::max(workload.bytes, workload.bytes > 0 ? 0 : kLeastBytes) * workload.threads));
    return rounded(workload,
                   std::min(by_memory, workload.grid_x > 0 ? by_memory : device.attribute(max_grid_x).value_or(65535)));
}

}  // namespace

WorkloadTiming time_workload(device::Device& device, const Workload& workload,
                             const std::function<void(double, std::string_view)>& progress) {
    const auto module = device.load(ptx_of(workload));
    device::Kernel& kernel = module->kernel(workload.kernel);
    const device::Dim3 block{static_cast<std::uint32_t>(workload.threads)};
    KernelTiming timing(device, kernel, block, Bytes{0});
    const std::int64_t sms = sms_of(device);
    const std::int64_t most = most_blocks(device, workload);
    std::int64_t blocks = std::min(most, rounded(workload, sms * timing.most_blocks() * kFirstWaves));
    WorkloadData data;
    for (;;) {
        progress(0, workload.id);
        data = {};  // freed before the next one allocates
        data = workload.data(device, blocks);
        const auto result =
            timing.launch({grid_of(workload, blocks), block, Bytes{0}, data.arguments}, timing.most_blocks());
        data.check(blocks);
        const bool many = result.warp_instructions.value_or(0) > kManyInstructions;
        if (result.elapsed.count() >= kLongEnough || many || blocks == most) break;
        blocks = std::min(most, rounded(workload, blocks * kGrowth));
    }
    const KernelLaunch whole{grid_of(workload, blocks), block, Bytes{0}, data.arguments},
        part{grid_of(workload, blocks / 2), block, Bytes{0}, data.arguments};
    WorkloadTiming result{.workload = &workload, .registers = kernel.properties().registers_per_thread, .samples = {}};
    const auto occupancies = timing.occupancies();
    for (const int each : occupancies) {
        progress(static_cast<double>(result.samples.size()) / static_cast<double>(occupancies.size()), workload.id);
        result.samples.push_back(timing.sample(whole, part, each, data.before));
    }
    return result;
}

}  // namespace gputomo::measure
