#include "answer/predict.hpp"
#include "answer/sensitivity.hpp"
#include "cli/answers.hpp"
#include "cli/inputs/caches.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/kernel_arguments.hpp"
#include "cli/inputs/launches.hpp"
#include "cli/inputs/machine_code.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/inputs/set_leaves.hpp"
#include "cli/machines_beside.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "cli/terminal/progress.hpp"
#include "compare/kernels/comparison.hpp"
#include "compare/kernels/measurement.hpp"
#include "compare/kernels/prediction_text.hpp"
#include "files/output_file.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/json.hpp"
#include "predict/static/listing.hpp"
#include "predict/static/prediction.hpp"
#include "predict/static/ptx_code.hpp"
#include "predict/static/sass_code.hpp"
#include "ptx/parser.hpp"
#include "scan/kernels_file.hpp"
#include "units/error.hpp"
#include "units/file.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Options that put measured throughput beside the predicted one.
struct MeasureOptions {
    std::string device;    ///< empty measures nothing
    std::string measured;  ///< file of an earlier measurement, instead of a device
    std::string out;       ///< file to write what is measured of kernels/ to
    ShapeOptions shape;
    std::vector<std::string> arguments;
    std::int64_t shared = 0;  ///< bytes
    std::uint64_t seed = 1;
    int noise = 0;
};

struct PredictOptions {
    std::string file, kernel, machine, caches, html;
    std::vector<std::string> trip_counts, taken, untaken, transactions, ways;
    double l1_hit_rate = 0, l2_hit_rate = 0;
    MeasureOptions measure;
    std::vector<int> launches;  ///< of a capture
    std::int64_t time_limit_ms = 60'000;
    bool reads_code = false;       ///< --static: analyses the code and executes nothing
    std::vector<std::string> set;  ///< PATH=VALUE
    bool json = false, explain = false, instructions = false, sensitivity = false;
    Ways usage{{"built-in kernels", "a launch that is executed", "a capture",
                "the analysis of a PTX file or a listing (--static)", "a PTX file and --device"}};
};

/// Bits of PredictOptions::usage.
constexpr unsigned kBuiltIn = 1, kOfLaunch = 2, kOfCapture = 4, kStatic = 8, kStaticMeasured = 16;
constexpr unsigned kAnalyses = kStatic | kStaticMeasured, kLaunches = kOfLaunch | kStaticMeasured;

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
    choices.path.untaken.insert(options.untaken.begin(), options.untaken.end());
    choices.path.refuses_guesses = true;
    choices.access = {.transactions = by_line(options.transactions, "--transactions"),
                      .ways = by_line(options.ways, "--ways"),
                      .l1_hit_rate = options.l1_hit_rate,
                      .l2_hit_rate = options.l2_hit_rate};
    choices.dynamic_shared = options.measure.shared;
    if (const auto& block = options.measure.shape.block; !block.empty())
        choices.warps_of_block = static_cast<int>((dimensions(block, "--block").count() + kWarpSize - 1) / kWarpSize);
    return choices;
}

predict::Code code_from(const PredictOptions& options) {
    const auto text = read_file(options.file, "a PTX file or a listing of cuobjdump or nvdisasm");
    if (predict::is_listing(text))
        return predict::code_from_listing(predict::parse_listing(text, options.file), options.kernel, options.file);
    return predict::code_from_ptx(ptx::parse_kernel(text, options.kernel, options.file), options.kernel, options.file);
}

int print_comparisons(const PredictOptions& options, const std::vector<compare::KernelComparison>& comparisons,
                      const results::Origin& origin) {
    if (options.json)
        print_json({{"schema", "gputomo-kernel-comparison-1"}, {"kernels", compare::comparison_json(comparisons)}},
                   origin);
    else
        out::print("{}", compare::comparison_table(comparisons));
    return 0;
}

using Workloads = std::vector<const measure::Workload*>;

scan::MeasuredKernels measure_on_device(const MeasureOptions& options, const Workloads& workloads) {
    const InterruptGuard guard;
    if (!options.out.empty()) files::check_writable_file(options.out);
    const auto device = open_device(options.device, options.seed, options.noise);
    auto origin = origin_on(*device);
    const auto save = [&](scan::MeasuredKernels measured, const std::filesystem::path& file) {
        measured.origin = origin;
        if (!options.out.empty()) files::write_whole(file, to_json(measured));
    };
    Progress progress(false);
    auto measured = compare::measure_workloads(
        *device, workloads, [&](double fraction, std::string_view what) { progress.show(fraction, -1, what); },
        [&](const scan::MeasuredKernels& so_far) { save(so_far, files::partial_of(options.out)); });
    add_state_after(origin, *device);
    measured.origin = origin;
    save(measured, options.out);
    if (!options.out.empty()) std::filesystem::remove(files::partial_of(options.out));
    return measured;
}

int run_workloads(const PredictOptions& options, const Workloads& workloads) {
    const auto& measure = options.measure;
    if (measure.device.empty() && measure.measured.empty())
        throw InputError(fmt::format("predict {}: expected --device to measure on, or --measured FILE", options.file));
    if (!measure.out.empty())
        files::refuse_inputs("--out", measure.out, files_of({options.machine, measure.device, measure.measured}));
    const auto machine = machine_named(options.machine);
    const bool measured_now = measure.measured.empty();
    const auto measured = measured_now ? measure_on_device(measure, workloads) : scan::load_kernels(measure.measured);
    return print_comparisons(options,
                             compare::compare_workloads(workloads, measured, machine, options.machine,
                                                        measure.measured.empty() ? measure.device : measure.measured),
                             measured_now ? *measured.origin : origin_of_command());
}

/// Measures the entry --kernel of the user's PTX file, and says in `origin` on which GPU.
scan::MeasuredKernel measure_entry(const PredictOptions& options, results::Origin& origin) {
    const auto& measure = options.measure;
    const auto text = read_file(options.file, "a PTX file");
    const auto parsed = ptx::parse(text, options.file);
    const auto& kernel = find_kernel(parsed, options.kernel, options.file);
    const auto device = open_device(measure.device, measure.seed, measure.noise);
    const auto shape = launch_shape(measure.shape, *device);
    const auto module = device->load(text);
    const auto arguments = place_arguments(parse_arguments(measure.arguments, signature_of(kernel)), *device);
    origin = origin_on(*device);
    auto measured = compare::measure_kernel(*device, *module, options.kernel,
                                            {shape.grid, shape.block, Bytes{measure.shared}, arguments.packed});
    add_state_after(origin, *device);
    return measured;
}

int print_prediction(const PredictOptions& options, const predict::Prediction& prediction) {
    if (options.json)
        print_json(compare::prediction_json(prediction), origin_of_command());
    else
        out::print("{}", compare::prediction_text(prediction));
    return 0;
}

int print_beside(const PredictOptions& options, const compare::KernelComparison& comparison,
                 const results::Origin& origin) {
    if (options.json) {
        Json json = compare::prediction_json(comparison.prediction);
        json["measured"] = compare::comparison_json({comparison}).at(0);
        print_json(std::move(json), origin);
        return 0;
    }
    out::print("{}\n{}", compare::prediction_text(comparison.prediction), compare::comparison_table({comparison}));
    return 0;
}

LaunchOptions launch_of(const PredictOptions& options) {
    return {.file = options.file,
            .kernel = options.kernel,
            .shape = options.measure.shape,
            .arguments = options.measure.arguments,
            .launches = options.launches,
            .shared = options.measure.shared};
}

/// Predicts launches of a file or a capture by executing sampled blocks of them.
int predict_launches(const PredictOptions& options, bool of_capture) {
    check_page(options.html, files_of({options.file, options.machine}));
    capture::Capture captured;
    if (of_capture) captured = capture::load(options.file);
    const auto& name = options.machine;
    DescriptionChanges changes{.set = options.set, .assumed = {}};
    const auto gpu = open_simulated(name.starts_with("sim:") ? name : "sim:" + name, options.measure.seed, 0, &changes);
    const PrintOptions print = print_options_of(options, std::move(changes.assumed), gpu->machine());
    check_machine_code(*gpu, "--machine " + name, "such a GPU, or --static for a PTX file or a listing");
    const launch::Sampling sampling{.seed = options.measure.seed,
                                    .time_limit = std::chrono::milliseconds(options.time_limit_ms)};
    const ChosenCaches caches(options.caches.empty() ? "cold" : options.caches, of_capture ? &captured : nullptr,
                              ChosenCaches::For::prediction);
    auto at_start = caches.at_start();
    at_start.also_warm = options.caches.empty();
    const auto answer = [&](const launch::Launch& launch, bool whole) {
        auto given = answer::predict(launch, {gpu->machine(), name}, sampling, at_start,
                                     whole ? answer::Advising::tried : answer::Advising::none);
        if (whole && options.sensitivity) {
            Progress progress(isatty(STDERR_FILENO) == 0);
            at_start.also_warm = false;
            given.sensitivity = answer::sensitivities(
                gpu->machine(),
                [&](const machine::Machine& changed) {
                    return answer::predict(launch, {changed, name}, sampling, at_start).time.cycles;
                },
                [&](std::size_t done, std::size_t of) {
                    progress.show(static_cast<double>(done) / static_cast<double>(of), -1, "sensitivity");
                });
        }
        return given;
    };
    if (of_capture) return print_answers_of_capture(captured, launch_of(options), answer, print);
    const std::string cubin = fmt::format("give a cubin for sm_{}", gpu->ptx_target().sm);
    const CodeOptions code{.machine_code = true,
                           .needed_by = "predict",
                           .otherwise = is_machine_code_file(options.file)
                                            ? cubin + ", or install the CUDA toolkit"
                                            : cubin + ", install the CUDA toolkit, or use --static"};
    return print_answer(launch_of_file(launch_of(options), code, *gpu), answer, print);
}

/// Predicts launches on several GPUs. PTX is compiled for each.
int predict_on_each(const PredictOptions& options, bool of_capture, const std::vector<std::string>& machines) {
    for (const auto& [given, name] : {std::pair{!options.html.empty(), "--html"},
                                      {options.sensitivity, "--sensitivity"},
                                      {options.instructions, "--instructions"},
                                      {options.explain, "--explain"}})
        if (given) throw InputError(fmt::format("{}: expected a single --machine, not {}", name, options.machine));
    capture::Capture captured;
    if (of_capture) captured = capture::load(options.file);
    const ChosenCaches caches(options.caches.empty() ? "cold" : options.caches, of_capture ? &captured : nullptr,
                              ChosenCaches::For::prediction);
    return print_machines_beside(
        machines,
        [&](const std::string& machine) {
            DescriptionChanges changes{.set = options.set, .assumed = {}};
            const auto gpu = open_simulated(machine.starts_with("sim:") ? machine : "sim:" + machine,
                                            options.measure.seed, 0, &changes);
            check_machine_code(*gpu, "--machine " + machine, "such a GPU");
            const launch::Sampling sampling{.seed = options.measure.seed,
                                            .time_limit = std::chrono::milliseconds(options.time_limit_ms)};
            std::vector<answer::Answer> answers;
            const auto add = [&](const launch::Launch& launch) {
                answers.push_back(answer::predict(launch, {gpu->machine(), machine}, sampling, caches.at_start(),
                                                  answer::Advising::none));
            };
            if (!of_capture) {
                const CodeOptions code{.machine_code = true,
                                       .needed_by = "predict",
                                       .otherwise = "give a cubin, or install the CUDA toolkit"};
                add(launch_of_file(launch_of(options), code, *gpu));
            } else {
                for (const auto number : named_launches(captured, launch_of(options)))
                    add(launch::captured_launch(captured, captured.launches[number]));
            }
            return answers;
        },
        options.json);
}

/// What the file is and how it is predicted: a bit of PredictOptions::usage.
unsigned way_of(const PredictOptions& options) {
    if (!std::filesystem::exists(options.file) && !compare::workloads_named(options.file).empty()) return kBuiltIn;
    if (std::filesystem::is_regular_file(std::filesystem::path(options.file) / "capture.json")) return kOfCapture;
    if (is_machine_code_file(options.file)) return kOfLaunch;
    const auto& launch = options.measure;
    if (!launch.device.empty()) return kStaticMeasured;
    const bool has_launch = !launch.shape.grid.empty() || !launch.arguments.empty();
    return !options.reads_code && has_launch ? kOfLaunch : kStatic;
}

int print_static_prediction(const PredictOptions& options) {
    if (options.kernel.empty())
        throw InputError(fmt::format("--kernel: missing; expected an entry of {}", options.file));
    auto code = code_from(options);
    auto choices = choices_from(options);
    const auto machine = machine_named(options.machine);
    if (options.measure.device.empty())
        return print_prediction(options, predict::predict(std::move(code), machine, choices, options.machine));
    results::Origin origin;
    const auto measured = measure_entry(options, origin);
    compare::hold_occupancy(choices, code.shared_bytes + options.measure.shared, measured, machine);
    return print_beside(options, {predict::predict(std::move(code), machine, choices, options.machine), measured},
                        origin);
}

int run_prediction(const PredictOptions& options) {
    const auto way = way_of(options);
    options.usage.check(way);
    if (options.reads_code && way == kOfLaunch)
        throw InputError(
            fmt::format("--static: {} is machine code; expected a PTX file or a listing of cuobjdump", options.file));
    if (const auto machines = machine_names(options.machine);
        machines.size() > 1 && (way == kOfCapture || way == kOfLaunch))
        return predict_on_each(options, way == kOfCapture, machines);
    switch (way) {
        case kBuiltIn: return run_workloads(options, compare::workloads_named(options.file));
        case kOfCapture: return predict_launches(options, true);
        case kOfLaunch: return predict_launches(options, false);
        default: return print_static_prediction(options);
    }
}

void add_measure_options(Command& command, const std::shared_ptr<PredictOptions>& options) {
    auto& measure = options->measure;
    auto& usage = options->usage;
    auto device = command.add_option("--device", measure.device,
                                     "also measure the kernel on this device: cuda:N, sim:NAME or sim:FILE.json");
    device.only_for(usage, kBuiltIn | kStaticMeasured);
    command
        .add_option("--grid", measure.shape.grid,
                    "blocks of the launch, X[,Y,Z]; with it, sampled blocks are executed. Needed for a cubin, and with "
                    "--device")
        .only_for(usage, kLaunches);
    command
        .add_option("--block", measure.shape.block,
                    "threads per block, X[,Y,Z]; decides which warps share barriers and start together. Needed with "
                    "--grid, unless a cubin is for one size alone")
        .only_for(usage, kLaunches | kStatic);
    command.add_option("--shared", measure.shared, "dynamic shared memory per block, in bytes (default: 0)")
        .non_negative()
        .only_for(usage, kLaunches | kStatic);
    command.add_option("--arg", measure.arguments, kArgumentHelp).one_value_each().only_for(usage, kLaunches);
    auto measured =
        command.add_option("--measured", measure.measured, "file that --out wrote, compared with instead of measuring");
    measured.only_for(usage, kBuiltIn);
    measured.excludes(device);
    command.add_option("--out", measure.out, "file to write the measured throughputs of built-in kernels to (JSON)")
        .excludes(measured)
        .only_for(usage, kBuiltIn);
    command.add_option("--seed", measure.seed, kSeedHelp)
        .capture_default_str()
        .only_for(usage, kLaunches | kOfCapture | kBuiltIn);
    command.add_option("--noise", measure.noise, kNoiseHelp)
        .capture_default_str()
        .only_for(usage, kBuiltIn | kStaticMeasured);
}

void add_analysis_options(Command& command, const std::shared_ptr<PredictOptions>& options) {
    command
        .add_option("--trip-count", options->trip_counts,
                    "LABEL=N: the loop that starts at LABEL runs N iterations; given once for each loop")
        .one_value_each()
        .only_for(options->usage, kAnalyses);
    command.add_option("--taken", options->taken, "LABEL: conditional forward branches to LABEL are taken")
        .one_value_each()
        .only_for(options->usage, kAnalyses);
    command
        .add_option("--untaken", options->untaken,
                    "LABEL: conditional forward branches to LABEL are not taken. Without --taken and --untaken no such "
                    "branch is, and one that passes over a loop is an error")
        .one_value_each()
        .only_for(options->usage, kAnalyses);
    command
        .add_option("--transactions", options->transactions,
                    "LINE=N: a warp's access in this line of the file touches N lines of 128 bytes")
        .one_value_each()
        .only_for(options->usage, kAnalyses);
    command
        .add_option("--ways", options->ways,
                    "LINE=N: the shared-memory access in this line of the file has N-way bank conflicts")
        .one_value_each()
        .only_for(options->usage, kAnalyses);
    command.add_option("--l1-hit", options->l1_hit_rate, "share of loads that hit in the L1, 0 to 1")
        .capture_default_str()
        .range(0, 1)
        .only_for(options->usage, kAnalyses);
    command.add_option("--l2-hit", options->l2_hit_rate, "share of L1 misses that hit in the L2, 0 to 1")
        .capture_default_str()
        .range(0, 1)
        .only_for(options->usage, kAnalyses);
}

}  // namespace

void add_predict(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<PredictOptions>();
    Command command(
        parent, "predict",
        "Predict the time of a launch by executing sampled blocks, or a kernel's throughput against occupancy "
        "from its code alone");
    command
        .add_option("file", options->file,
                    fmt::format("cubin, PTX file, folder of a capture, output of cuobjdump -sass or nvdisasm, "
                                "or built-in kernels: {}",
                                fmt::join(compare::workload_names(), ", ")))
        .required();
    command
        .add_option("--kernel", options->kernel,
                    "entry of the file; needed for files. Of a capture, the launches of this kernel")
        .only_for(options->usage, kLaunches | kOfCapture | kStatic);
    command
        .add_option(
            "--machine", options->machine,
            fmt::format("{}. Several with commas between them, such as a100,h100,h200, for the times of a launch "
                        "side by side",
                        kMachineHelp))
        .required();
    command.add_flag("--json", options->json, "print JSON instead of text");
    command.add_option("--set", options->set, kSetHelp)
        .one_value_each()
        .only_for(options->usage, kOfLaunch | kOfCapture);
    command
        .add_flag("--sensitivity", options->sensitivity,
                  "also find the values of the description that the answer to one launch depends on most; predicts it "
                  "some hundred times")
        .only_for(options->usage, kOfLaunch | kOfCapture);
    command.add_option("--html", options->html, kHtmlHelp).only_for(options->usage, kOfLaunch | kOfCapture);
    command.add_flag("--instructions", options->instructions, kInstructionsHelp)
        .only_for(options->usage, kOfLaunch | kOfCapture);
    command.add_flag("--explain", options->explain, kExplainHelp).only_for(options->usage, kOfLaunch | kOfCapture);
    add_analysis_options(command, options);
    add_measure_options(command, options);
    command
        .add_flag("--static", options->reads_code,
                  "analyse the code and execute nothing; a PTX file without --grid is analysed too")
        .only_for(options->usage, kAnalyses | kOfLaunch);
    command.add_option("--launch", options->launches, "of a capture: the launch of this number; given once for each")
        .one_value_each()
        .only_for(options->usage, kOfCapture);
    command
        .add_option("--caches", options->caches,
                    std::string(kPredictedCachesHelp) +
                        ". Default: cold, and the time with warm ones too where they differ by more than 5%")
        .only_for(options->usage, kOfLaunch | kOfCapture);
    command
        .add_option("--time-limit", options->time_limit_ms,
                    "longest time that the execution of sampled blocks may take, in milliseconds of this computer's "
                    "time")
        .capture_default_str()
        .positive()
        .only_for(options->usage, kOfLaunch | kOfCapture);
    command.add_verbosity();
    command.runs(action, [options] { return run_prediction(*options); });
}

}  // namespace gputomo::cli
