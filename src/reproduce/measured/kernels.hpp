// Real kernels that rows name, measured over occupancy.
#pragma once

#include "device/device.hpp"
#include "scan/runner.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace gputomo::reproduce {

/// The record that measure_kernels() gives has this id; it has a trace of kernel_trace_name() for each kernel, with the
/// columns warps (of an SM) and rate (warps that an SM finishes, per cycle).
inline constexpr std::string_view kKernelRecord = "kernels_named";
[[nodiscard]] std::string kernel_trace_name(std::string_view id);

/// "" where the project has such a kernel; otherwise those that it has.
[[nodiscard]] std::string why_no_kernel(std::string_view id);

/// The kernels of these ids, as the experiment `kernels` measures all of them. What fails or is interrupted is said in
/// the record, as scan::run() does.
[[nodiscard]] scan::Record measure_kernels(device::Device& device, const std::set<std::string>& ids,
                                           const std::function<void(double fraction, std::string_view what)>& progress);

}  // namespace gputomo::reproduce
