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

/// Data on the device for launches of up to a given number of blocks.
struct WorkloadData {
    std::vector<device::Buffer> buffers;
    device::Arguments arguments;
    /// Runs before each launch, for a kernel that changes its input; empty if there is nothing to restore.
    std::function<void()> before;
    /// Throws DeviceError if the first `blocks` blocks left a wrong result.
    std::function<void(std::int64_t blocks)> check;
};

/// A kernel of kernels/, its data and what is known about it.
struct Workload {
    std::string_view id;  ///< "permute_random"
    std::string_view title;
    std::string_view source;  ///< paper and section
    std::string_view file;    ///< of kernels/, without extension
    std::string_view kernel;
    int threads = 128;  ///< of a block
    int grid_x = 0;     ///< blocks in a row of the grid; 0: the grid has one row
    double bytes = 0;   ///< fewest bytes that a thread moves, for throughput in GB/s
    double flops = 0;   ///< floating-point operations of a thread, for kernels that exist to do them
    WorkloadData (*data)(device::Device& device, std::int64_t blocks);

    // What the data decide about accesses and branches, which the code does not show:
    int scattered_load = -1;  ///< number of the global load whose threads have scattered addresses; -1: none
    bool branches = false;    ///< conditional forward branches are taken
    double trips = 0;         ///< iterations of its loop, if no literal states them
    double cached = 0;        ///< share of loads that hit in a cache of the whole GPU because blocks read the same data
};

/// All workloads.
[[nodiscard]] std::span<const Workload> workloads();
/// Throws InputError that names the existing ones.
[[nodiscard]] const Workload& find_workload(std::string_view id);
[[nodiscard]] std::string_view ptx_of(const Workload& workload);

/// One workload on one device.
struct WorkloadTiming {
    const Workload* workload = nullptr;
    int registers = 0;  ///< of a thread
    std::vector<KernelSample> samples;
};

/// Samples at five occupancies. Launches are so large that they take a GPU half a millisecond, or a simulator a
/// comparable time of computing. `progress` as Run::progress. Throws DeviceError if the kernel computes something
/// wrong.
[[nodiscard]] WorkloadTiming time_workload(device::Device& device, const Workload& workload,
                                           const std::function<void(double, std::string_view)>& progress);

}  // namespace gputomo::measure
