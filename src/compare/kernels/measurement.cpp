#include "compare/kernels/measurement.hpp"

namespace gputomo::compare {
namespace {

constexpr std::string_view kAll = "all";

}  // namespace

std::vector<const measure::Workload*> workloads_named(std::string_view name) {
    std::vector<const measure::Workload*> named;
    for (const auto& workload : measure::workloads())
        if (name == kAll || workload.id == name) named.push_back(&workload);
    return named;
}

std::vector<std::string> workload_names() {
    std::vector<std::string> names{std::string(kAll)};
    for (const auto& workload : measure::workloads()) names.emplace_back(workload.id);
    return names;
}

scan::MeasuredKernels measure_workloads(device::Device& device, const std::vector<const measure::Workload*>& workloads,
                                        const std::function<void(double fraction, std::string_view what)>& progress,
                                        const std::function<void(const scan::MeasuredKernels&)>& save) {
    scan::MeasuredKernels measured{
        .gpu = device.name(),
        .sms = static_cast<int>(device.attribute(device::Attribute::multiprocessor_count).value_or(1)),
        .kernels = {}};
    const auto all = static_cast<double>(workloads.size());
    for (const auto* workload : workloads) {
        const double done = static_cast<double>(measured.kernels.size()) / all;
        const auto timing = measure::time_workload(
            device, *workload, [&](double fraction, std::string_view what) { progress(done + fraction / all, what); });
        measured.kernels.push_back({std::string(workload->id), workload->threads, timing.registers, timing.samples});
        save(measured);
    }
    return measured;
}

scan::MeasuredKernel measure_kernel(device::Device& device, device::Module& module, const std::string& name,
                                    const measure::KernelLaunch& launch) {
    auto& kernel = module.kernel(name);
    measure::KernelTiming timing(device, kernel, launch.block, launch.dynamic_shared);
    measure::KernelLaunch no_blocks = launch;
    no_blocks.grid = {0, 0, 0};
    scan::MeasuredKernel measured{.id = name,
                                  .threads = static_cast<int>(launch.block.count()),
                                  .registers = kernel.properties().registers_per_thread,
                                  .samples = {}};
    for (const int blocks : timing.occupancies()) measured.samples.push_back(timing.sample(launch, no_blocks, blocks));
    return measured;
}

}  // namespace gputomo::compare
