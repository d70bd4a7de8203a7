#include "cli/command.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/kernel_arguments.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/progress.hpp"
#include "compare/kernels/comparison.hpp"
#include "compare/kernels/measurement.hpp"
#include "machine/json.hpp"
#include "predict/listing.hpp"
#include "predict/prediction.hpp"
#include "predict/ptx_code.hpp"
#include "predict/sass_code.hpp"
#include "ptx/parser.hpp"
#include "scan/files.hpp"
#include "units/error.hpp"
#include "units/file.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Options that put measured throughput beside the predicted one.
struct MeasureOptions {
    std::string device;       ///< empty measures nothing
    std::string measured;     ///< file of an earlier measurement, instead of a device
    std::string out;          ///< file to write what is measured of kernels/ to
    std::string grid, block;  ///< X[,Y,Z]
    std::vector<std::string> arguments;
    std::int64_t shared = 0;  ///< bytes
    std::uint64_t seed = 1;
    int noise = 0;
};

struct PredictOptions {
    std::string file, kernel, machine;
    std::vector<std::string> trip_counts, taken, transactions, ways;
    double l1_hit_rate = 0, l2_hit_rate = 0;
    MeasureOptions measure;
    bool json = false;
};

/// Splits "NAME=NUMBER" at the last equals sign. Throws InputError.
std::pair<std::string, double> assignment(const std::string& text, const std::string& option) {
    const std::string where = option + " " + text;
    const auto equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) throw InputError(where + ": expected NAME=NUMBER");
    return {text.substr(0, equals), number<double>(std::string_view(text).substr(equals + 1), where)};
}

std::map<int, double> by_line(const std::vector<std::string>& texts, const std::string& option) {
    std::map<int, double> values;
    for (const auto& text : texts) {
        const auto [line, value] = assignment(text, option);
        values[number<int>(line, fmt::format("{} {}", option, text))] = value;
    }
    return values;
}

predict::Choices choices_from(const PredictOptions& options) {
    predict::Choices choices;
    for (const auto& text : options.trip_counts) choices.path.trip_counts.insert(assignment(text, "--trip-count"));
    choices.path.taken.insert(options.taken.begin(), options.taken.end());
    choices.access = {.transactions = by_line(options.transactions, "--transactions"),
                      .ways = by_line(options.ways, "--ways"),
                      .l1_hit_rate = options.l1_hit_rate,
                      .l2_hit_rate = options.l2_hit_rate};
    choices.dynamic_shared = options.measure.shared;
    if (!options.measure.block.empty())
        choices.warps_of_block =
            static_cast<int>((dimensions(options.measure.block, "--block").count() + kWarpSize - 1) / kWarpSize);
    return choices;
}

predict::Code code_from(const PredictOptions& options) {
    const auto text = read_file(options.file, "a PTX file or a listing of cuobjdump or nvdisasm");
    if (predict::is_listing(text))
        return predict::code_from_listing(predict::parse_listing(text, options.file), options.kernel, options.file);
    return predict::code_from_ptx(ptx::parse_kernel(text, options.kernel, options.file), options.kernel, options.file);
}

/// JSON has no infinity, so a throughput that cannot be reached is null.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json worksheet_json(const predict::Worksheet& sheet) {
    Json resources = Json::array();
    for (const auto& resource : sheet.resources) {
        Json uses = Json::array();
        for (const auto& use : resource.uses)
            uses.push_back(
                {{"by", use.by}, {"cycles_each", use.cycles_each}, {"count", use.count}, {"cycles", use.cycles()}});
        resources.push_back({{"resource", resource.resource}, {"uses", uses}, {"cycles", resource.total()}});
    }
    return resources;
}

Json instructions_json(const predict::Prediction& p) {
    Json list = Json::array();
    for (std::size_t i = 0; i < p.code.instructions.size(); ++i)
        list.push_back({{"line", p.code.instructions[i].line},
                        {"text", p.code.instructions[i].text},
                        {"executions", p.executions[i]},
                        {"first_issue", p.issue_times[i] < 0 ? Json() : Json(p.issue_times[i])}});
    return list;
}

Json json_from(const predict::Prediction& p) {
    Json points = Json::array(), changes = Json::array();
    for (const auto& point : p.points)
        points.push_back({{"warps", point.warps},
                          {"warps_per_cycle", point.warps_per_cycle},
                          {"contended_warps_per_cycle", point.contended_warps_per_cycle},
                          {"queued_warps_per_cycle", point.queued_warps_per_cycle},
                          {"first_cache_lines", point.cache_lines > 0 ? Json(point.cache_lines) : Json()}});
    for (const auto& change : p.changes)
        changes.push_back({{"what", change.what},
                           {"needed_warps", change.needed_warps},
                           {"cycles_per_warp", change.cycles_per_warp}});
    return {{"schema", "gputomo-prediction-1"},
            {"kernel", p.kernel},
            {"gpu", p.gpu},
            {"limited_by", p.limited_by},
            {"latency_cycles", p.latency},
            {"cycles_per_warp", p.bound},
            {"needed_warps", p.needed_warps},
            {"needed_warps_contended", finite(p.needed_contended)},
            {"max_warps", p.max_warps},
            {"dram_bytes_per_warp", p.bytes},
            {"dram_gigabytes_per_second", p.gigabytes_per_second},
            {"throughput", points},
            {"worksheet", worksheet_json(p.worksheet)},
            {"changes", changes},
            {"instructions", instructions_json(p)},
            {"assumptions", p.assumptions}};
}

void print_worksheet(const predict::Worksheet& sheet, const std::string& limited_by) {
    fmt::print("\nThroughput bound: cycles of each resource of an SM for one warp\n");
    for (const auto& resource : sheet.resources) {
        fmt::print("  {:<44} {:>34.4g}{}\n", resource.resource, resource.total(),
                   resource.resource == limited_by ? "  <- the limit" : "");
        for (const auto& use : resource.uses)
            fmt::print("    {:<42} {:>10.4g} x {:>10.6g} = {:>8.4g}\n", use.by, use.cycles_each, use.count,
                       use.cycles());
    }
}

/// Every occupancy would be a long table; these show the shape. The last is always among them.
void print_points(const predict::Prediction& p) {
    constexpr std::size_t kRows = 12;
    fmt::print("\nThroughput against occupancy, warps per 1000 cycles and SM\n  {:>6} {:>12} {:>16} {:>12}\n", "warps",
               "bounds", "with contention", "with queues");
    const std::size_t count = p.points.size(), rows = std::min(kRows, count);
    for (std::size_t row = 1; row <= rows; ++row) {
        const auto& point = p.points[row * count / rows - 1];
        fmt::print("  {:>6} {:>12.4g} {:>16.4g} {:>12.4g}\n", point.warps, 1000 * point.warps_per_cycle,
                   1000 * point.contended_warps_per_cycle, 1000 * point.queued_warps_per_cycle);
    }
}

std::string needed_text(double warps) {
    return std::isfinite(warps) ? fmt::format("{:.1f}", warps) : "more than any number of";
}

void print_text(const predict::Prediction& p) {
    fmt::print("{} on {}\n\n", p.kernel, p.gpu);
    fmt::print(
        "  latency of a warp alone   {:.6g} cycles\n  throughput bound          {:.4g} cycles for a warp and SM\n  "
        "limited by                {}\n",
        p.latency, p.bound, p.limited_by);
    fmt::print("  needed occupancy          {:.1f} warps per SM{}\n", p.needed_warps,
               p.max_warps > 0 ? fmt::format(" of {}", p.max_warps) : "");
    fmt::print("  with memory contention    {} warps per SM\n", needed_text(p.needed_contended));
    if (p.max_warps > 0 && p.needed_warps > p.max_warps)
        fmt::print("  an SM does not hold that many: latency limits the kernel at any occupancy\n");
    if (p.bytes > 0)
        fmt::print("  DRAM traffic              {:.6g} bytes a warp, {:.4g} GB/s at the bound\n", p.bytes,
                   p.gigabytes_per_second);
    print_worksheet(p.worksheet, p.limited_by);
    print_points(p);
    fmt::print("\nWhat would change it\n");
    for (const auto& change : p.changes)
        fmt::print("  {:<52} {:>8.1f} warps needed, {:.4g} cycles a warp\n", change.what, change.needed_warps,
                   change.cycles_per_warp);
    fmt::print("\nAssumed\n");
    for (const auto& assumption : p.assumptions) fmt::print("  {}\n", assumption);
}

int print_comparisons(const PredictOptions& options, const std::vector<compare::KernelComparison>& comparisons) {
    if (options.json)
        fmt::print(
            "{}\n",
            Json{{"schema", "gputomo-kernel-comparison-1"}, {"kernels", compare::comparison_json(comparisons)}}.dump(
                1));
    else
        fmt::print("{}", compare::comparison_table(comparisons));
    return 0;
}

using Workloads = std::vector<const measure::Workload*>;

scan::MeasuredKernels measure_on_device(const MeasureOptions& options, const Workloads& workloads) {
    const InterruptGuard guard;
    if (!options.out.empty()) scan::check_writable_file(options.out);
    const auto device = open_device(options.device, options.seed, options.noise);
    Progress progress(false);
    return compare::measure_workloads(
        *device, workloads, [&](double fraction, std::string_view what) { progress.show(fraction, -1, what); },
        [&](const scan::MeasuredKernels& measured) {
            if (!options.out.empty()) scan::write_file(options.out, to_json(measured));
        });
}

int run_workloads(const PredictOptions& options, const Workloads& workloads) {
    const auto& measure = options.measure;
    if (measure.device.empty() && measure.measured.empty())
        throw InputError(fmt::format("predict {}: expected --device to measure on, or --measured FILE", options.file));
    const auto machine = machine_named(options.machine);
    const auto measured =
        measure.measured.empty() ? measure_on_device(measure, workloads) : scan::load_kernels(measure.measured);
    return print_comparisons(options,
                             compare::compare_workloads(workloads, measured, machine, options.machine,
                                                        measure.measured.empty() ? measure.device : measure.measured));
}

/// Measures the entry --kernel of the user's PTX file.
scan::MeasuredKernel measure_entry(const PredictOptions& options) {
    const auto& measure = options.measure;
    if (measure.grid.empty() || measure.block.empty())
        throw InputError("--device: expected --grid and --block with it, to launch the kernel");
    const auto text = read_file(options.file, "a PTX file");
    const auto parsed = ptx::parse(text, options.file);
    const auto& signature = find_kernel(parsed, options.kernel, options.file);
    const auto device = open_device(measure.device, measure.seed, measure.noise);
    const auto module = device->load(text);
    auto arguments = kernel_arguments(measure.arguments, signature, *device);
    return compare::measure_kernel(*device, *module, options.kernel,
                                   {dimensions(measure.grid, "--grid"), dimensions(measure.block, "--block"),
                                    Bytes{measure.shared}, arguments.packed});
}

int print_prediction(const PredictOptions& options, const predict::Prediction& prediction) {
    if (options.json)
        fmt::print("{}\n", json_from(prediction).dump(1));
    else
        print_text(prediction);
    return 0;
}

int print_beside(const PredictOptions& options, const compare::KernelComparison& comparison) {
    if (options.json) {
        Json json = json_from(comparison.prediction);
        json["measured"] = compare::comparison_json({comparison}).at(0);
        fmt::print("{}\n", json.dump(1));
        return 0;
    }
    print_text(comparison.prediction);
    fmt::print("\n{}", compare::comparison_table({comparison}));
    return 0;
}

int run_prediction(const PredictOptions& options) {
    if (!std::filesystem::exists(options.file))
        if (const auto workloads = compare::workloads_named(options.file); !workloads.empty())
            return run_workloads(options, workloads);
    if (options.kernel.empty())
        throw InputError(fmt::format("--kernel: missing; expected an entry of {}", options.file));
    auto code = code_from(options);
    auto choices = choices_from(options);
    const auto machine = machine_named(options.machine);
    if (options.measure.device.empty())
        return print_prediction(options, predict::predict(std::move(code), machine, choices, options.machine));
    const auto measured = measure_entry(options);
    compare::hold_occupancy(choices, code.shared_bytes + options.measure.shared, measured, machine);
    return print_beside(options, {predict::predict(std::move(code), machine, choices, options.machine), measured});
}

void add_measure_options(CLI::App& command, const std::shared_ptr<PredictOptions>& options) {
    auto& measure = options->measure;
    command.add_option("--device", measure.device,
                       "also measure the kernel on this device: cuda:N, sim:NAME or sim:FILE.json");
    command.add_option("--grid", measure.grid, "blocks of the measured launch, X[,Y,Z]; needed with --device");
    command.add_option("--block", measure.block,
                       "threads per block, X[,Y,Z]; decides which warps share barriers and start together; needed with "
                       "--device");
    command.add_option("--shared", measure.shared, "dynamic shared memory per block, in bytes (default: 0)")
        ->check(CLI::NonNegativeNumber);
    command
        .add_option("--arg", measure.arguments,
                    "one argument of the measured launch, in the kernel's order: TYPE:VALUE with TYPE u32, s32, u64, "
                    "s64, f32 or f64, or buf:BYTES[:FILE]; given once for each")
        ->allow_extra_args(false);
    command.add_option("--out", measure.out, "file to write the measured throughputs of built-in kernels to (JSON)");
    command.add_option("--measured", measure.measured, "file that --out wrote, compared with instead of measuring");
    command.add_option("--seed", measure.seed, kSeedHelp)->capture_default_str();
    command.add_option("--noise", measure.noise, kNoiseHelp)->capture_default_str();
}

}  // namespace

void add_predict(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<PredictOptions>();
    auto* command = parent.add_subcommand(
        "predict", "Predict a kernel's throughput against occupancy, from PTX or a listing of machine code");
    command
        ->add_option("file", options->file,
                     fmt::format("PTX file, output of cuobjdump -sass or nvdisasm, or built-in kernels: {}",
                                 fmt::join(compare::workload_names(), ", ")))
        ->required();
    command->add_option("--kernel", options->kernel, "entry of the file; needed for files");
    command->add_option("--machine", options->machine, kMachineHelp)->required();
    command->add_flag("--json", options->json, "print JSON instead of text");
    command
        ->add_option("--trip-count", options->trip_counts,
                     "LABEL=N: the loop that starts at LABEL runs N iterations; given once for each loop")
        ->allow_extra_args(false);
    command
        ->add_option("--taken", options->taken,
                     "LABEL: conditional forward branches to LABEL are taken (default: not taken)")
        ->allow_extra_args(false);
    command
        ->add_option("--transactions", options->transactions,
                     "LINE=N: a warp's access in this line of the file touches N lines of 128 bytes")
        ->allow_extra_args(false);
    command
        ->add_option("--ways", options->ways,
                     "LINE=N: the shared-memory access in this line of the file has N-way bank conflicts")
        ->allow_extra_args(false);
    command->add_option("--l1-hit", options->l1_hit_rate, "share of loads that hit in the L1, 0 to 1")
        ->capture_default_str();
    command->add_option("--l2-hit", options->l2_hit_rate, "share of L1 misses that hit in the L2, 0 to 1")
        ->capture_default_str();
    add_measure_options(*command, options);
    command->callback([&action, options] { action = [options] { return run_prediction(*options); }; });
}

}  // namespace gputomo::cli
