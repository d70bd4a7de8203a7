// Real kernels with their data: those of Volkov 2016, chapter 3, a matrix product and a sum. Their sources are in
// kernels/.
#pragma once

#include "measure/workload/kernel_timing.hpp"

#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::measure {

/// Data on the device for launches of up to so many blocks.
struct WorkloadData {
    std::vector<device::Buffer> buffers;
    device::Arguments arguments;
    /// Ahead of each launch, where a kernel changes what it reads; empty where not.
    std::function<void()> before;
    /// Throws DeviceError where `blocks` left a wrong result.
    std::function<void(std::int64_t blocks)> check;
};

struct Workload {
    std::string_view id;  ///< "permute_random"
    std::string_view title;
    std::string_view source;  ///< paper and section
    std::string_view file;    ///< of kernels/, without extension
    std::string_view kernel;
    int threads = 128;  ///< of a block
    int grid_x = 0;     ///< blocks in a row of the grid; 0: it has one row
    double bytes = 0;   ///< that a thread moves at the least, for throughput in GB/s
    double flops = 0;   ///< of a thread, where they are what the kernel is for
    WorkloadData (*data)(device::Device& device, std::int64_t blocks);

    // ---- what its data make of accesses and branches: facts that no code tells
    int scattered_load = -1;  ///< which of its loads from global memory has an address of its own in each thread
    bool branches = false;    ///< conditional branches forward are taken
    double trips = 0;         ///< turns of its loop, where no literal says so
    double cached = 0;        ///< share of loads that a cache of the whole GPU answers, because blocks read the same
};

/// All of them.
[[nodiscard]] std::span<const Workload> workloads();
/// Throws InputError naming those that there are.
[[nodiscard]] const Workload& find_workload(std::string_view id);
[[nodiscard]] std::string_view ptx_of(const Workload& workload);

/// One workload on one device.
struct WorkloadTiming {
    const Workload* workload = nullptr;
    int registers = 0;  ///< of a thread
    std::vector<KernelSample> samples;
};

/// At five occupancies. As many blocks as take the GPU half a millisecond, or a simulated one a moment. `progress` as
/// Context::progress. Throws DeviceError where the kernel computes something wrong.
[[nodiscard]] WorkloadTiming time_workload(device::Device& device, const Workload& workload,
                                           const std::function<void(double, std::string_view)>& progress);

}  // namespace gputomo::measure
