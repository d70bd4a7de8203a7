#include "answer/simulate.hpp"
#include "cli/answers.hpp"
#include "cli/inputs/caches.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/kernel_arguments.hpp"
#include "cli/inputs/launches.hpp"
#include "cli/inputs/machine_code.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/inputs/set_leaves.hpp"
#include "cli/options.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/help.hpp"
#include "cli/traces.hpp"
#include "files/output_file.hpp"
#include "launch/captured/captured_launch.hpp"
#include "launch/placed_launch.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::cli {
namespace {

struct SimulateOptions {
    LaunchOptions launch;
    std::string device, code, tolerance, html, trace, caches = "cold";
    std::vector<std::string> dumps, set;
    std::uint64_t seed = 1;
    std::int64_t time_limit_ms = 60'000;
    std::uint64_t sample_above = kDefaultSampleAbove;
    bool check = false, whole = false, json = false, explain = false, instructions = false;
    Ways usage{{"a file", "a capture"}};
};

/// Bits of SimulateOptions::usage.
constexpr unsigned kSimulatesFile = 1, kSimulatesCapture = 2;

/// The simulated GPU where --device names none.
constexpr const char *kDefaultDevice = "sim:gtx280", *kDefaultOfCaptures = "sim:h200";

/// A buffer that --dump writes to a file after the run.
struct Dump {
    std::size_t buffer = 0;
    std::string file;
};

/// The files that a simulation reads.
std::vector<std::string> inputs_of(const SimulateOptions& options) {
    auto inputs = files_of({options.launch.file, options.device});
    for (const auto& argument : options.launch.arguments)  // buf:BYTES:FILE
        if (const auto colon = argument.find(':', argument.find(':') + 1); colon != std::string::npos)
            inputs.push_back(argument.substr(colon + 1));
    return inputs;
}

/// Also checks that the file can be written, before a long simulation.
Dump dump_from(const std::string& text, std::size_t buffers, const std::vector<std::string>& inputs) {
    const auto colon = text.find(':');
    const std::string where = "--dump " + text;
    if (colon == std::string::npos || colon + 1 == text.size()) throw InputError(where + ": expected N:FILE");
    const auto n = number<std::size_t>(std::string_view(text).substr(0, colon), where);
    if (n >= buffers) throw InputError(fmt::format("{}: there are {} buffers, counted from 0", where, buffers));
    Dump dump{n, text.substr(colon + 1)};
    files::refuse_inputs("--dump", dump.file, inputs);
    files::check_writable_file(dump.file);
    return dump;
}

/// "1e-5" or "f16:1e-3"
launch::Tolerance tolerance_of(const std::string& text) {
    const auto colon = text.find(':');
    launch::Tolerance tolerance;
    const auto type = colon == std::string::npos ? std::optional(tolerance.type)
                                                 : launch::number_type_named(std::string_view(text).substr(0, colon));
    const auto value = colon == std::string::npos ? std::string_view(text) : std::string_view(text).substr(colon + 1);
    const std::string where = "--tolerance " + text;
    if (!type) throw InputError(where + ": unknown type; expected f16, bf16, f32 or f64 before the colon");
    tolerance.type = *type;
    tolerance.relative = number<double>(value, where);
    if (!(tolerance.relative >= 0 && tolerance.relative < 1))
        throw InputError(where + ": expected a relative difference from 0 to 1, such as 1e-5");
    return tolerance;
}

answer::SimulationRequest request_of(const SimulateOptions& options) {
    answer::SimulationRequest request{.seed = options.seed,
                                      .time_limit = std::chrono::milliseconds(options.time_limit_ms)};
    if (!options.whole) request.sampling = sim::SamplingPlan{options.sample_above};
    return request;
}

int simulate_capture(const SimulateOptions& options) {
    const auto captured = capture::load(options.launch.file);
    const std::string device = options.device.empty() ? kDefaultOfCaptures : options.device;
    DescriptionChanges changes{.set = options.set, .assumed = {}};
    const auto gpu = open_simulated(device, options.seed, 0, &changes);
    const PrintOptions print = print_options_of(options, std::move(changes.assumed), gpu->machine());
    check_machine_code(*gpu, options.launch.file, "a --device of that compute capability, such as sim:h200");
    auto request = request_of(options);
    request.compares_results = options.check;
    if (!options.tolerance.empty()) request.tolerance = tolerance_of(options.tolerance);
    const ChosenCaches caches(options.caches, &captured, ChosenCaches::For::simulation);
    request.caches = caches.at_start();
    return print_answers_of_capture(
        captured, options.launch,
        [&](const launch::Launch& launch, bool /*whole*/) {
            return answer::simulate(launch, {gpu->machine(), device}, request);
        },
        print);
}

int simulate_file(const SimulateOptions& options) {
    const ChosenCaches caches(options.caches, nullptr, ChosenCaches::For::simulation);
    const std::string device = options.device.empty() ? kDefaultDevice : options.device;
    DescriptionChanges changes{.set = options.set, .assumed = {}};
    const auto gpu = open_simulated(device, options.seed, 0, &changes);
    const PrintOptions print = print_options_of(options, std::move(changes.assumed), gpu->machine());
    const CodeOptions code{
        .ptx = options.code == "ptx",
        .machine_code = options.code == "sass",
        .needed_by = "--code sass",
        .otherwise =
            fmt::format("give a cubin for sm_{}, install the CUDA toolkit, or use --code ptx", gpu->ptx_target().sm)};
    const auto launch = launch_of_file(options.launch, code, *gpu);
    auto request = request_of(options);
    request.caches = caches.at_start();
    std::vector<Dump> dumps;
    for (const auto& dump : options.dumps) dumps.push_back(dump_from(dump, launch.buffers.size(), inputs_of(options)));
    if (!dumps.empty())
        request.after = [&](const launch::PlacedLaunch& placed) {
            for (const Dump& dump : dumps) {
                const auto content = placed.content(dump.buffer);
                files::write_whole(dump.file, {reinterpret_cast<const char*>(content.data()), content.size()});
            }
        };
    return print_answer(
        launch,
        [&](const launch::Launch& one, bool /*whole*/) {
            return answer::simulate(one, {gpu->machine(), device}, request);
        },
        print);
}

/// Writes traces in place of a simulation.
int trace(const SimulateOptions& options) {
    const bool of_capture = is_capture(options.launch.file);
    if (options.code == "ptx") throw InputError("--trace: traces have machine code; expected --code sass or none");
    const std::string device =
        !options.device.empty() ? options.device : (of_capture ? kDefaultOfCaptures : kDefaultDevice);
    DescriptionChanges changes{.set = options.set, .assumed = {}};
    const auto gpu = open_simulated(device, options.seed, 0, &changes);
    check_machine_code(*gpu, "--trace", "a --device of that compute capability, such as sim:h200");
    const std::chrono::milliseconds limit(options.time_limit_ms);
    if (!of_capture) {
        const CodeOptions code{
            .machine_code = true, .needed_by = "--trace", .otherwise = "give a cubin, or install the CUDA toolkit"};
        const auto launch = launch_of_file(options.launch, code, *gpu);
        TraceFolder folder(options.trace);
        folder.add(launch, gpu->machine(), limit);
        folder.finish();
        return kDone;
    }
    const auto captured = capture::load(options.launch.file);
    const auto named = named_launches(captured, options.launch);
    TraceFolder folder(options.trace);
    for (const auto number : named)
        folder.add(launch::captured_launch(captured, captured.launches[number]), gpu->machine(), limit);
    folder.finish();
    return kDone;
}

int simulate(const SimulateOptions& options) {
    const bool of_capture = is_capture(options.launch.file);
    options.usage.check(of_capture ? kSimulatesCapture : kSimulatesFile);
    if (!options.trace.empty()) return trace(options);
    check_page(options.html, inputs_of(options));
    return of_capture ? simulate_capture(options) : simulate_file(options);
}

/// Adds the options that describe a launch, and returns --dump.
Option add_launch_options(Command& command, const std::shared_ptr<SimulateOptions>& options) {
    command
        .add_option("--code", options->code,
                    "what is executed: ptx, or sass (machine code; of a PTX file what the ptxas on the PATH "
                    "makes of it). Default: what the file holds")
        .member_of({"ptx", "sass"})
        .only_for(options->usage, kSimulatesFile);
    command.add_option("--grid", options->launch.shape.grid, "blocks of the launch, X[,Y,Z]; needed for a file")
        .only_for(options->usage, kSimulatesFile);
    command
        .add_option("--block", options->launch.shape.block,
                    "threads per block, X[,Y,Z]; needed for a file, unless a cubin is for one size alone")
        .only_for(options->usage, kSimulatesFile);
    command.add_option("--shared", options->launch.shared, "dynamic shared memory per block, in bytes (default: 0)")
        .non_negative()
        .only_for(options->usage, kSimulatesFile);
    command.add_option("--arg", options->launch.arguments, kArgumentHelp)
        .one_value_each()
        .only_for(options->usage, kSimulatesFile);
    auto dump = command.add_option("--dump", options->dumps,
                                   "N:FILE: write the content of buffer N, counted from 0, to FILE after the run");
    dump.one_value_each().only_for(options->usage, kSimulatesFile);
    return dump;
}

}  // namespace

void add_simulate(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<SimulateOptions>();
    Command command(parent, "simulate",
                    "Run a kernel, in PTX or machine code, on a simulated GPU and print its counters");
    command.add_option("file", options->launch.file, "PTX file, cubin, or folder of a capture").required();
    command.add_option("--kernel", options->launch.kernel,
                       "entry of the file to run; of a capture, all launches of this kernel that have memory");
    command
        .add_option("--launch", options->launch.launches,
                    "of a capture: the launch of this number; given once for each")
        .one_value_each()
        .only_for(options->usage, kSimulatesCapture);
    auto check = command.add_flag("--check", options->check,
                                  "of a capture with results: compare memory after the launch with the GPU's");
    check.only_for(options->usage, kSimulatesCapture);
    command
        .add_option(
            "--tolerance", options->tolerance,
            "with --check: floats may differ by this share of the larger one, such as 1e-5; f16:1e-3 for halves "
            "(f16, bf16, f32, f64)")
        .only_for(options->usage, kSimulatesCapture)
        .needs(check);
    command.add_option("--device", options->device,
                       "simulated GPU: sim:NAME or sim:FILE.json (default: sim:gtx280; for a capture sim:h200)");
    auto dump = add_launch_options(command, options);
    auto above = command.add_option("--sample-above", options->sample_above, kSampleAboveHelp);
    above.capture_default_str().excludes(check).excludes(dump);
    auto whole = command.add_flag("--whole", options->whole,
                                  "simulate all blocks, as --check and --dump do, which need complete results");
    whole.excludes(above);
    auto caches = command.add_option("--caches", options->caches, kSimulatedCachesHelp);
    caches.capture_default_str();
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str();
    command
        .add_option("--time-limit", options->time_limit_ms,
                    "longest time that the simulation may take, in milliseconds of this computer's time")
        .capture_default_str()
        .positive();
    auto json = command.add_flag("--json", options->json, "print JSON instead of text");
    command.add_option("--set", options->set, kSetHelp).one_value_each();
    auto html = command.add_option("--html", options->html, kHtmlHelp);
    auto instructions = command.add_flag("--instructions", options->instructions, kInstructionsHelp);
    auto explain = command.add_flag("--explain", options->explain, kExplainHelp);
    auto trace = command.add_option("--trace", options->trace, kTraceHelp);
    for (const Option& answers : {check, dump, above, whole, caches, json, html, instructions, explain})
        trace.excludes(answers);
    command.add_verbosity();
    command.runs(action, [options] { return simulate(*options); });
}

}  // namespace gputomo::cli
