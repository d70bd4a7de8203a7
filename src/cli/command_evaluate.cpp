#include "cli/command.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/terminal/ending.hpp"
#include "cli/terminal/progress.hpp"
#include "compare/mixes/surface_mixes.hpp"
#include "machine/json.hpp"
#include "measure/mix/mix_surface.hpp"
#include "measure/mix/mix_sweeps.hpp"
#include "models/cusp.hpp"
#include "scan/plan.hpp"
#include "scan/runner.hpp"
#include "scan/surface_file.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateOptions {
    std::string device = "auto", machine, surface, access = "global";
    std::vector<int> alphas;
    int ilp = 1, noise = 0;
    std::optional<int> loop_length;
    std::uint64_t seed = 1;
    bool quick = false, json = false;
};

/// What the models need of a GPU, and no more.
const std::vector<std::string> kParameterExperiments{
    "attributes",        "clock",  "arithmetic_latency", "arithmetic_throughput", "shared_latency",
    "shared_throughput", "caches", "dram_bandwidth"};

/// From the file, or measured here and now.
machine::Machine machine_for(const EvaluateOptions& options, device::Device& device, Progress& progress) {
    if (!options.machine.empty()) return machine_named(options.machine);
    scan::Options run;
    run.seed = options.seed;
    run.quick = options.quick;
    run.progress = [&](double fraction, double left, std::string_view what) {
        progress.show(fraction / 2, left, what);
    };
    const auto scan = scan::run(device, scan::plan(experiments::catalogue(), kParameterExperiments), run);
    throw_unless_done(scan, "interrupted");
    return scan::describe(scan);
}

/// The mixes; of memory that SMs share, accesses alone too: they tell its latency under load, and the rate of a cache
/// where the description does not.
measure::MixSurface measure(const EvaluateOptions& options, const models::Parameters& p, device::Device& device,
                            Progress& progress) {
    measure::MixPlan plan{.accesses = {compare::mix_access(p.access)},
                          .intensities = {},
                          .chains = {options.ilp},
                          .warps = measure::mix_occupancies(p.schedulers, p.max_warps),
                          .adds_alone = false,
                          .loop_length = options.loop_length};
    if (p.access == models::Access::global || p.access == models::Access::l2 || p.memory.throughput == 0)
        plan.intensities.push_back({1, 0});
    for (const int alpha : options.alphas.empty() ? measure::mix_alphas(options.quick) : options.alphas)
        plan.intensities.push_back({1, alpha});
    const auto show = [&](double fraction, std::string_view what) { progress.show(0.5 + 0.5 * fraction, -1, what); };
    auto surface = measure::measure_surface(device, plan, show);
    if (p.memory.throughput > 0) return surface;
    constexpr int kMostChains = 8;  // what saturates a cache of the whole GPU
    const auto saturated = measure::measure_surface(device,
                                                    {.accesses = plan.accesses,
                                                     .intensities = {{1, 0}},
                                                     .chains = {kMostChains},
                                                     .warps = {p.max_warps},
                                                     .adds_alone = false,
                                                     .loop_length = measure::kLoopLength},
                                                    show);
    surface.curves.insert(surface.curves.end(), saturated.curves.begin(), saturated.curves.end());
    return surface;
}

/// Throws where there is nothing to judge models on.
std::vector<models::MeasuredMix> judged(const EvaluateOptions& options, const measure::MixSurface& measured,
                                        models::Parameters& p) {
    auto mixes = compare::judged_mixes(measured, {.chains = options.ilp, .alphas = options.alphas}, p);
    if (mixes.empty() || p.memory.throughput == 0)
        throw InputError(fmt::format("{}: no {} of {} and adds with {} chains; expected some",
                                     options.surface.empty() ? options.device : options.surface,
                                     mixes.empty() ? "mixes" : "accesses alone", options.access, options.ilp));
    return mixes;
}

/// Fig. 4.6: what was measured beside the models whose cusp the thesis draws.
struct NeededWarps {
    std::string_view of;
    models::Needs needs;
};

std::vector<NeededWarps> needed_warps(const EvaluateOptions& options, const measure::MixSurface& measured,
                                      models::Parameters p) {
    constexpr int kMostEstimated = 256;
    const auto mixes =
        compare::judged_mixes(measured, {.chains = options.ilp, .alphas = options.alphas, .every_occupancy = true}, p);
    std::vector<NeededWarps> all{{"measured", models::measured_needs(p, mixes)}};
    for (const std::string_view model : {"volkov-basic", "volkov-contention"}) {
        if (model == "volkov-contention" && !p.contention) continue;
        all.push_back({model, models::estimated_needs(models::find_model(model), p, all.front().needs, options.ilp,
                                                      kMostEstimated)});
    }
    return all;
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json needed(const std::optional<int>& warps) { return warps ? Json(*warps) : Json(); }

Json json_from(const std::vector<NeededWarps>& all) {
    Json cusps = Json::array();
    for (const auto& [of, needs] : all) {
        Json by_alpha = Json::array();
        for (const auto& [alpha, need] : needs)
            by_alpha.push_back({{"alpha", std::isfinite(alpha) ? Json(alpha) : Json("adds alone")},
                                {"warps", needed(need.warps)},
                                {"attained", need.attained}});
        Json row{{"of", of}, {"needed", by_alpha}};
        if (const auto cusp = models::cusp_of(needs))
            row.update({{"warps", needed(cusp->warps)},
                        {"attained", cusp->attained},
                        {"alpha", finite(cusp->alpha)},
                        {"first_alpha", finite(cusp->first_alpha)},
                        {"last_alpha", finite(cusp->last_alpha)},
                        {"above_both_ends", cusp->above_both_ends}});
        cusps.push_back(std::move(row));
    }
    return cusps;
}

Json json_from(const models::Parameters& p, const std::vector<models::MeasuredMix>& surface,
               const std::vector<models::Evaluation>& evaluations, const std::vector<NeededWarps>& all) {
    Json mixes = Json::array(), rows = Json::array();
    for (const auto& measured : surface) {
        Json points = Json::array();
        for (const auto& [warps, throughput] : measured.throughput)
            points.push_back({{"warps", warps}, {"instructions_per_cycle", throughput}});
        mixes.push_back({{"alpha", measured.mix.alpha}, {"ilp", measured.mix.ilp}, {"throughput", points}});
    }
    for (const auto& e : evaluations)
        rows.push_back({{"model", e.model},
                        {"alpha", e.mix.alpha},
                        {"smallest", finite(e.smallest)},
                        {"largest", finite(e.largest)},
                        {"mean_error", finite(e.mean_error)},
                        {"needed_warps", needed(e.needed_estimated)},
                        {"needed_warps_measured", needed(e.needed_measured)}});
    return {{"schema", "gputomo-evaluation-1"},
            {"gpu", p.gpu},
            {"access", models::name_of(p.access)},
            {"surface", mixes},
            {"models", rows},
            {"cusp", json_from(all)}};
}

std::string needed_text(const std::optional<int>& warps) { return warps ? fmt::to_string(*warps) : "-"; }

void print_text(const models::Parameters& p, const std::vector<models::Evaluation>& evaluations) {
    fmt::print(
        "{}: estimated over measured throughput, smallest and largest over occupancies; warps for {:.0f}% of the "
        "peak\n",
        p.gpu, 100 * models::kHidden);
    std::string_view model;
    for (const auto& e : evaluations) {
        if (e.model != model)
            fmt::print("\n{}\n  {:>6} {:>9} {:>9} {:>9} {:>9}\n", e.model, "alpha", "smallest", "largest", "needed",
                       "measured");
        model = e.model;
        fmt::print("  {:>6} {:>9.3f} {:>9.3f} {:>9} {:>9}\n", e.mix.alpha, e.smallest, e.largest,
                   needed_text(e.needed_estimated), needed_text(e.needed_measured));
    }
    fmt::print(
        "\nall mixes together; the mean error is estimate over measured or its reciprocal, whichever is larger\n  "
        "{:<22} {:>9} {:>9} {:>10}\n",
        "model", "smallest", "largest", "mean error");
    for (const auto& model : models::overall(evaluations))
        fmt::print("  {:<22} {:>9.3f} {:>9.3f} {:>10.3f}\n", model.model, model.smallest, model.largest,
                   model.mean_error);
}

std::string alpha_text(double alpha) { return std::isfinite(alpha) ? fmt::format("{:.4g}", alpha) : "adds"; }

std::string text_of(const models::Cusp& cusp) {
    const std::string range =
        cusp.first_alpha < cusp.last_alpha ? alpha_text(cusp.first_alpha) + " to " + alpha_text(cusp.last_alpha) : "";
    std::string text;
    if (cusp.warps)
        text = fmt::format("{} warps, alpha {}", *cusp.warps, range.empty() ? alpha_text(cusp.alpha) : range);
    else
        text =
            fmt::format("not with any number that was tried, alpha {}: {:.0f}% of the peak{}", alpha_text(cusp.alpha),
                        100 * cusp.attained, range.empty() ? "" : ", nor anywhere from alpha " + range);
    return text + (cusp.above_both_ends ? "" : "; not more than at one of the ends");
}

void print_text(const std::vector<NeededWarps>& all) {
    fmt::print(
        "\nwarps for {:.0f}% of one of the peaks, and the share of it that was attained with any number (Volkov 2016, "
        "Fig. 4.6)\n  {:>6} {:>9} {:>9}",
        100 * models::kHidden, "alpha", "measured", "attained");
    for (std::size_t i = 1; i < all.size(); ++i) fmt::print(" {:>18}", all[i].of);
    for (const auto& [alpha, need] : all.front().needs) {
        fmt::print("\n  {:>6} {:>9} {:>9.3f}", alpha_text(alpha), needed_text(need.warps), need.attained);
        for (std::size_t i = 1; i < all.size(); ++i) fmt::print(" {:>18}", needed_text(all[i].needs.at(alpha).warps));
    }
    fmt::print("\n\nthe cusp: where most warps are needed\n");
    for (const auto& [of, needs] : all)
        if (const auto cusp = models::cusp_of(needs)) fmt::print("  {:<18} {}\n", of, text_of(*cusp));
}

void check(const EvaluateOptions& options) {
    static_cast<void>(models::access_named(options.access));  // before anything is measured
    for (const int alpha : options.alphas)
        if (alpha < 1 || alpha > 4096) throw InputError(fmt::format("--alpha {}: expected 1 to 4096", alpha));
    if (!options.surface.empty() && options.machine.empty())
        throw InputError("--surface: expected --machine with the parameters of the GPU that it was measured on");
    if (options.ilp < 1 || options.ilp > 8) throw InputError(fmt::format("--ilp {}: expected 1 to 8", options.ilp));
}

models::Parameters parameters_for(const EvaluateOptions& options, const machine::Machine& machine) {
    auto parameters = models::parameters_of(machine, models::access_named(options.access),
                                            options.machine.empty() ? options.device : options.machine);
    if (parameters.max_warps < 1)
        throw InputError(fmt::format("{}: topology.max_threads_per_sm: missing; expected a number", options.machine));
    return parameters;
}

void print(const EvaluateOptions& options, models::Parameters parameters, const measure::MixSurface& measured) {
    const auto mixes = judged(options, measured, parameters);
    const auto evaluations = models::evaluate(parameters, mixes);
    const auto needs = needed_warps(options, measured, parameters);
    if (options.json) {
        fmt::print("{}\n", json_from(parameters, mixes, evaluations, needs).dump(1));
        return;
    }
    print_text(parameters, evaluations);
    print_text(needs);
}

int evaluate_recorded(const EvaluateOptions& options) {
    const auto parameters = parameters_for(options, machine_named(options.machine));
    const auto recorded = scan::load_surface(options.surface);
    if (recorded.gpu != parameters.gpu)
        fmt::print(stderr, "warning: {} was measured on {}, {} describes {}\n", options.surface, recorded.gpu,
                   options.machine, parameters.gpu);
    print(options, parameters, recorded);
    return 0;
}

int evaluate_here(const EvaluateOptions& options) {
    const InterruptGuard guard;
    const auto device = open_device(options.device, options.seed, options.noise);
    models::Parameters parameters;
    measure::MixSurface surface;
    {
        Progress progress(options.json);
        parameters = parameters_for(options, machine_for(options, *device, progress));
        surface = measure(options, parameters, *device, progress);
    }
    print(options, parameters, surface);
    return 0;
}

int run_evaluation(const EvaluateOptions& options) {
    check(options);
    return options.surface.empty() ? evaluate_here(options) : evaluate_recorded(options);
}

}  // namespace

void add_evaluate(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<EvaluateOptions>();
    auto* command =
        parent.add_subcommand("evaluate", "Models of latency hiding against measured mixes of instructions");
    command->add_option("--device", options->device, "cuda:N, sim:NAME, sim:FILE.json or auto")->capture_default_str();
    command->add_option("--machine", options->machine,
                        "machine.json with the models' parameters, or sim:NAME; measured if not given");
    command->add_option("--surface", options->surface,
                        "throughputs that `gputomo surface` recorded, instead of measuring");
    command
        ->add_option("--access", options->access,
                     fmt::format("what is mixed with adds: {}", fmt::join(models::access_names(), ", ")))
        ->capture_default_str();
    command->add_option("--alpha", options->alphas, "arithmetic instructions for each other one")->delimiter(',');
    command->add_option("--ilp", options->ilp, "independent chains of a warp")->capture_default_str();
    command
        ->add_option("--turn", options->loop_length,
                     "instructions of a turn of the mixes' loop; if not given, 720, or as many as do not wait for code")
        ->check(CLI::Range(16, 1000));
    command->add_option("--seed", options->seed, "for what is drawn at random")->capture_default_str();
    command->add_option("--noise", options->noise, "measurement noise of a simulated GPU, 0 to 3")
        ->capture_default_str();
    command->add_flag("--quick", options->quick, "fewer arithmetic intensities");
    command->add_flag("--json", options->json, "as JSON, with the measured throughputs");
    command->callback([&action, options] { action = [options] { return run_evaluation(*options); }; });
}

}  // namespace gputomo::cli
