// Measures kernels over occupancy: those of kernels/ with their data, or one of the user's.
#pragma once

#include "device/device.hpp"
#include "measure/workload/workload.hpp"
#include "scan/kernels_file.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::compare {

/// Every kernel of kernels/ for "all", else the one with this id. Empty where there is none.
[[nodiscard]] std::vector<const measure::Workload*> workloads_named(std::string_view name);
/// What workloads_named() takes: "all" and the ids.
[[nodiscard]] std::vector<std::string> workload_names();

/// Measures each workload at five occupancies. `progress` gets the finished fraction of all of them. `save` gets what
/// is measured after each workload, because a device may be taken away. Errors are those of measure::time_workload.
[[nodiscard]] scan::MeasuredKernels measure_workloads(
    device::Device& device, const std::vector<const measure::Workload*>& workloads,
    const std::function<void(double fraction, std::string_view what)>& progress,
    const std::function<void(const scan::MeasuredKernels&)>& save);

/// Measures the entry `name` of `module` at up to five occupancies with this launch. Errors are those of
/// measure::KernelTiming.
[[nodiscard]] scan::MeasuredKernel measure_kernel(device::Device& device, device::Module& module,
                                                  const std::string& name, const measure::KernelLaunch& launch);

}  // namespace gputomo::compare
