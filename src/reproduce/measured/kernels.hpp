// Measures the kernels of kernels/ that expressions name, over occupancy.
#pragma once

#include "device/device.hpp"
#include "scan/runner.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace gputomo::reproduce {

/// The id of the record that measure_kernels() returns. The record has a trace kernel_trace_name() for each kernel,
/// with the columns warps (per SM) and rate (warps that an SM finishes per cycle).
inline constexpr std::string_view kKernelRecord = "kernels_named";
[[nodiscard]] std::string kernel_trace_name(std::string_view id);

/// "" where kernels/ has this kernel; otherwise the ids of those that it has.
[[nodiscard]] std::string alternatives_to_kernel(std::string_view id);

/// Measures the kernels with these ids, in the way in which the experiment `kernels` measures all. A failure or an
/// interruption stands in the record, as after scan::run().
[[nodiscard]] scan::Record measure_kernels(device::Device& device, const std::set<std::string>& ids,
                                           const std::function<void(double fraction, std::string_view what)>& progress);

}  // namespace gputomo::reproduce
