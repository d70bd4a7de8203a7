#include "reproduce/measured/kernels.hpp"

#include "measure/workload/workload.hpp"
#include "reproduce/measured/timed_record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::reproduce {
namespace {

results::Trace trace_of(const measure::WorkloadTiming& timing) {
    results::Trace trace{.name = kernel_trace_name(timing.workload->id), .experiment = std::string(kKernelRecord)};
    trace.columns = {{"warps", "warp/SM", {}}, {"rate", "warps/cycle/SM", {}}};
    for (const auto& sample : timing.samples) trace.add_row(sample.warps, sample.warps_per_cycle);
    return trace;
}

}  // namespace

std::string kernel_trace_name(std::string_view id) { return fmt::format("{}/{}", kKernelRecord, id); }

std::string alternatives_to_kernel(std::string_view id) {
    const auto all = measure::workloads();
    if (std::ranges::find(all, id, &measure::Workload::id) != all.end()) return {};
    std::string names;
    for (const auto& workload : all) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", workload.id);
    return names;
}

scan::Record measure_kernels(device::Device& device, const std::set<std::string>& ids,
                             const std::function<void(double, std::string_view)>& progress) {
    return timed_record(kKernelRecord, [&](results::Outcome& outcome) {
        const auto all = static_cast<double>(ids.size());
        for (const auto& id : ids) {
            const auto done = static_cast<double>(outcome.traces.size());
            outcome.traces.push_back(trace_of(measure::time_workload(
                device, measure::find_workload(id),
                [&](double fraction, std::string_view what) { progress((done + fraction) / all, what); })));
        }
    });
}

}  // namespace gputomo::reproduce
