#include "cli/inputs/devices.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/terminal/ending.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "cli/terminal/progress.hpp"
#include "compare/mixes/evaluation.hpp"
#include "machine/json.hpp"
#include "scan/plan.hpp"
#include "scan/runner.hpp"
#include "scan/surface_file.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>

namespace gputomo::cli {
namespace {

/// The progress bar gives the parameters' experiments the first half and the mixes the second.
constexpr double kParameterShare = 0.5;
/// Bounds of --alpha and --ilp. Both are chosen values; `gputomo surface` records alphas up to 512 and up to 8 chains.
constexpr int kMaxAlpha = 4096, kMaxChains = 8;

struct EvaluateOptions {
    std::string device = "auto", machine, surface, access = "global";
    compare::MixRequest mixes;
    std::uint64_t seed = 1;
    int noise = 0;
    bool json = false;
    Ways usage{{"a device (without --surface)", "--surface"}};
};

/// Bits of EvaluateOptions::usage.
constexpr unsigned kOnDevice = 1, kOfSurface = 2;

/// Reads the description that --machine names, or measures what the models need.
machine::Machine machine_for(const EvaluateOptions& options, device::Device& device, Progress& progress) {
    if (!options.machine.empty()) return machine_named(options.machine);
    scan::Options run;
    run.seed = options.seed;
    run.quick = options.mixes.quick;
    run.progress = [&](double fraction, double left, std::string_view what) {
        progress.show(kParameterShare * fraction, left, what);
    };
    const auto scan = scan::run(device, scan::plan(experiments::catalogue(), compare::parameter_experiments()), run);
    throw_unless_done(scan, "interrupted");
    return scan::describe(scan);
}

models::Parameters parameters_for(const EvaluateOptions& options, const machine::Machine& machine) {
    return compare::evaluation_parameters(machine, models::access_named(options.access),
                                          options.machine.empty() ? options.device : options.machine);
}

void check(const EvaluateOptions& options) {
    static_cast<void>(models::access_named(options.access));  // fails before anything is measured
    for (const int alpha : options.mixes.alphas)
        if (alpha < 1 || alpha > kMaxAlpha)
            throw InputError(fmt::format("--alpha {}: expected 1 to {}", alpha, kMaxAlpha));
    if (!options.surface.empty() && options.machine.empty())
        throw InputError("--surface: expected --machine with the description of the GPU that the surface is of");
    if (options.mixes.chains < 1 || options.mixes.chains > kMaxChains)
        throw InputError(fmt::format("--ilp {}: expected 1 to {}", options.mixes.chains, kMaxChains));
}

void print(const EvaluateOptions& options, const models::Parameters& parameters, const measure::MixSurface& surface,
           const results::Origin& origin) {
    const auto evaluation =
        compare::evaluate(surface, parameters, {.chains = options.mixes.chains, .alphas = options.mixes.alphas},
                          options.surface.empty() ? options.device : options.surface);
    if (options.json)
        print_json(compare::evaluation_json(evaluation), origin);
    else
        out::print("{}", compare::evaluation_table(evaluation));
}

int evaluate_recorded(const EvaluateOptions& options) {
    const auto parameters = parameters_for(options, machine_named(options.machine));
    const auto surface = scan::load_surface(options.surface);
    if (surface.gpu != parameters.gpu)
        throw InputError(fmt::format("{}: was measured on {}; expected a surface of {}, which {} describes",
                                     options.surface, surface.gpu, parameters.gpu, options.machine));
    print(options, parameters, surface, origin_of_command());
    return 0;
}

int evaluate_measured(const EvaluateOptions& options) {
    const InterruptGuard guard;
    const auto device = open_device(options.device, options.seed, options.noise);
    auto origin = origin_on(*device);
    models::Parameters parameters;
    measure::MixSurface surface;
    {
        Progress progress(options.json);
        parameters = parameters_for(options, machine_for(options, *device, progress));
        surface =
            compare::measure_mixes(*device, parameters, options.mixes, [&](double fraction, std::string_view what) {
                progress.show(kParameterShare + (1 - kParameterShare) * fraction, -1, what);
            });
    }
    add_state_after(origin, *device);
    print(options, parameters, surface, origin);
    return 0;
}

int run_evaluation(const EvaluateOptions& options) {
    options.usage.check(options.surface.empty() ? kOnDevice : kOfSurface);
    check(options);
    return options.surface.empty() ? evaluate_measured(options) : evaluate_recorded(options);
}

}  // namespace

void add_evaluate(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<EvaluateOptions>();
    Command command(parent, "evaluate", "Judge models of latency hiding on measured instruction mixes");
    command.add_option("--device", options->device, kDeviceHelp)
        .capture_default_str()
        .only_for(options->usage, kOnDevice);
    command.add_option("--machine", options->machine,
                       "machine.json or sim:NAME that gives the models their parameters (default: measured on the "
                       "device)");
    command.add_option("--surface", options->surface,
                       "file that `gputomo surface` wrote, judged instead of measuring; needs --machine");
    command
        .add_option("--access", options->access,
                    fmt::format("instruction that is mixed with adds: {}", fmt::join(models::access_names(), ", ")))
        .capture_default_str();
    command
        .add_option("--alpha", options->mixes.alphas,
                    "adds for each access, a list of 1 to 4096 (default: a series from 1 up, or all of the surface)")
        .delimiter(',');
    command
        .add_option("--ilp", options->mixes.chains,
                    "independent dependence chains of each warp (instruction-level parallelism), 1 to 8")
        .capture_default_str();
    command.add_option("--turn", options->mixes.loop_length, kLoopLengthHelp)
        .range(16, 1000)
        .only_for(options->usage, kOnDevice);
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str().only_for(options->usage, kOnDevice);
    command.add_option("--noise", options->noise, kNoiseHelp).capture_default_str().only_for(options->usage, kOnDevice);
    command.add_flag("--quick", options->mixes.quick, "measure fewer alphas, with fewer repetitions")
        .only_for(options->usage, kOnDevice);
    command.add_flag("--json", options->json, "print JSON, with the measured throughputs, instead of tables");
    command.add_verbosity();
    command.runs(action, [options] { return run_evaluation(*options); });
}

}  // namespace gputomo::cli
