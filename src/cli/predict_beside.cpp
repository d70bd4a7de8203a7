#include "cli/predict_beside.hpp"

#include "cli/inputs/devices.hpp"
#include "cli/inputs/kernel_arguments.hpp"
#include "cli/terminal/progress.hpp"
#include "ptx/parser.hpp"
#include "scan/files.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::cli {
namespace {

constexpr std::string_view kAll = "all";

std::vector<const measure::Workload*> chosen(const std::string& name) {
    std::vector<const measure::Workload*> all;
    for (const auto& workload : measure::workloads())
        if (name == kAll || workload.id == name) all.push_back(&workload);
    return all;
}

scan::MeasuredKernels measure_workloads(const std::string& name, const BesideOptions& options) {
    const InterruptGuard guard;
    if (!options.out.empty()) scan::check_writable_file(options.out);
    const auto device = open_device(options.device, options.seed, options.noise);
    scan::MeasuredKernels measured{
        .gpu = device->name(),
        .sms = static_cast<int>(device->attribute(device::Attribute::multiprocessor_count).value_or(1)),
        .kernels = {}};
    Progress progress(false);
    const auto all = chosen(name);
    for (const auto* workload : all) {
        const double done = static_cast<double>(measured.kernels.size()) / static_cast<double>(all.size());
        const auto timing = measure::time_workload(*device, *workload, [&](double fraction, std::string_view what) {
            progress.show(done + fraction / static_cast<double>(all.size()), -1, what);
        });
        measured.kernels.push_back({std::string(workload->id), workload->threads, timing.registers, timing.samples});
        if (!options.out.empty())
            scan::write_file(options.out, to_json(measured));  // after each: a device may be taken away
    }
    return measured;
}

}  // namespace

bool names_workloads(const std::string& name) { return !chosen(name).empty(); }

std::vector<std::string> workload_names() {
    std::vector<std::string> names{std::string(kAll)};
    for (const auto& workload : measure::workloads()) names.emplace_back(workload.id);
    return names;
}

std::vector<compare::KernelComparison> compare_workloads(const std::string& name, const BesideOptions& options,
                                                         const machine::Machine& machine, const std::string& origin) {
    if (options.device.empty() && options.measured.empty())
        throw InputError(fmt::format("predict {}: expected --device to measure on, or --measured FILE", name));
    const auto measured =
        options.measured.empty() ? measure_workloads(name, options) : scan::load_kernels(options.measured);
    std::vector<compare::KernelComparison> comparisons;
    for (const auto* workload : chosen(name)) {
        const auto found = std::ranges::find(measured.kernels, workload->id, &scan::MeasuredKernel::id);
        if (found == measured.kernels.end()) continue;
        auto predicted = compare::predicted_workload(*workload);
        compare::hold_occupancy(predicted.choices, predicted.code.shared_bytes, *found, machine);
        comparisons.push_back(
            {predict::predict(std::move(predicted.code), machine, predicted.choices, origin), *found});
    }
    if (comparisons.empty())
        throw InputError(fmt::format("{}: no kernel {}; expected one that predict knows", options.measured, name));
    return comparisons;
}

scan::MeasuredKernel measure_kernel(const std::string& file, const std::string& kernel, const BesideOptions& options) {
    if (options.grid.empty() || options.block.empty())
        throw InputError("--device: expected --grid and --block with it");
    const auto text = read_file(file, "a PTX file");
    const auto parsed = ptx::parse(text, file);
    const auto& signature = find_kernel(parsed, kernel, file);
    const auto device = open_device(options.device, options.seed, options.noise);
    const auto module = device->load(text);
    auto arguments = kernel_arguments(options.arguments, signature, *device);
    const measure::KernelLaunch launch{dimensions(options.grid, "--grid"), dimensions(options.block, "--block"),
                                       Bytes{options.shared}, arguments.packed};
    measure::KernelTiming timing(*device, module->kernel(kernel), launch.block, launch.dynamic_shared);
    measure::KernelLaunch none = launch;
    none.grid = {0, 0, 0};
    scan::MeasuredKernel measured{.id = kernel,
                                  .threads = static_cast<int>(launch.block.count()),
                                  .registers = module->kernel(kernel).properties().registers_per_thread,
                                  .samples = {}};
    for (const int blocks : timing.occupancies()) measured.samples.push_back(timing.sample(launch, none, blocks));
    return measured;
}

}  // namespace gputomo::cli
