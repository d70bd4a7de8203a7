#include "cli/inputs/devices.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "cli/terminal/progress.hpp"
#include "files/output_file.hpp"
#include "measure/mix/mix_surface.hpp"
#include "scan/surface_file.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

namespace gputomo::cli {
namespace {

struct SurfaceOptions {
    std::string device = "auto", out = "surface.json.gz";
    std::vector<std::string> accesses;
    std::vector<int> alphas, ilp{1, 2, 4, 8}, warps;
    std::optional<int> loop_length;
    std::optional<double> window_us;
    double seconds = 0;
    std::uint64_t seed = 1;
    int noise = 0;
};

std::vector<measure::MixAccess> accesses_of(const std::vector<std::string>& names) {
    const auto all = measure::mix_accesses();
    if (names.empty()) return {all.begin(), all.end()};
    std::vector<measure::MixAccess> chosen;
    for (const auto& name : names) {
        const auto access_named = measure::mix_access_named(name);
        if (!access_named) {
            std::vector<std::string_view> known;
            for (const auto access : all) known.push_back(measure::name_of(access));
            throw InputError(fmt::format("--access {}: expected one of {}", name, fmt::join(known, ", ")));
        }
        chosen.push_back(*access_named);
    }
    return chosen;
}

void check_all(const std::vector<int>& values, std::string_view option, int least, int most) {
    for (const int value : values)
        if (value < least || value > most)
            throw InputError(fmt::format("{} {}: expected {} to {}", option, value, least, most));
}

measure::MixPlan plan_of(const SurfaceOptions& options, const device::Device& device) {
    const int most = measure::max_warps_of(device);
    check_all(options.alphas, "--alpha", 0, 512);
    check_all(options.ilp, "--ilp", 1, 8);
    check_all(options.warps, "--warps", 1, most);
    measure::MixPlan plan{.accesses = accesses_of(options.accesses),
                          .intensities = measure::mix_intensities(),
                          .chains = options.ilp,
                          .warps = options.warps,
                          .window_us = options.window_us,
                          .loop_length = options.loop_length,
                          .seconds = options.seconds};
    if (!options.alphas.empty()) plan.intensities.clear();
    for (const int alpha : options.alphas) plan.intensities.push_back({1, alpha});
    if (plan.warps.empty())
        plan.warps.resize(static_cast<std::size_t>(most)), std::iota(plan.warps.begin(), plan.warps.end(), 1);
    return plan;
}

int run_surface(const SurfaceOptions& options) {
    const InterruptGuard guard;
    files::refuse_inputs("--out", options.out, files_of({options.device}));
    files::check_writable_file(options.out);
    const auto device = open_device(options.device, options.seed, options.noise);
    const auto plan = plan_of(options, *device);
    measure::MixSurface surface;
    auto origin = origin_on(*device);
    const auto save = [&](const std::filesystem::path& file) {
        add_state_after(origin, *device);
        surface.origin = origin;
        scan::save_surface(surface, file);
    };
    try {
        Progress progress(false);
        measure::add_to_surface(
            *device, plan, [&](double fraction, std::string_view what) { progress.show(fraction, -1, what); }, surface);
    } catch (...) {
        if (!surface.curves.empty()) {
            save(files::partial_of(options.out));  // and leaves an earlier surface alone
            out::say("the {} mixes that were measured until then are in {}", surface.curves.size(),
                     files::partial_of(options.out).string());
        }
        throw;
    }
    save(options.out);
    const auto samples = std::accumulate(surface.curves.begin(), surface.curves.end(), std::size_t{0},
                                         [](std::size_t sum, const auto& curve) { return sum + curve.samples.size(); });
    out::print(
        "{}: {} samples of {} mixes; the machine code of {} kernels was checked and is as written; saved in {}\n",
        surface.gpu, samples, surface.curves.size(), surface.checked_kernels, options.out);
    for (const auto& warning : surface.warnings) out::warn("{}", warning);
    return 0;
}

}  // namespace

void add_surface(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<SurfaceOptions>();
    Command command(parent, "surface",
                    "Measure the throughput of instruction mixes over occupancy, arithmetic "
                    "intensity and instruction-level parallelism");
    command.add_option("--device", options->device, kDeviceHelp).capture_default_str();
    command.add_option("--out", options->out, "file to write; compressed with gzip where the name ends in .gz")
        .capture_default_str();
    command
        .add_option(
            "--access", options->accesses,
            fmt::format("instructions that are mixed with adds: {} (default: all)", measure::mix_access_names()))
        .delimiter(',');
    command
        .add_option("--alpha", options->alphas,
                    "adds for each access, a list of 0 to 512 (default: 1/8 to 512, and accesses alone)")
        .delimiter(',');
    command
        .add_option("--ilp", options->ilp,
                    "independent dependence chains of each warp (instruction-level parallelism), a list of 1 to 8")
        .delimiter(',')
        .capture_default_str();
    command.add_option("--warps", options->warps, "occupancies to measure, in warps per SM (default: every one)")
        .delimiter(',');
    command.add_option("--turn", options->loop_length, kLoopLengthHelp).range(16, 1000);
    command
        .add_option("--window", options->window_us,
                    "shortest window in which streams are counted, in microseconds (default: 200 on a GPU, none on a "
                    "simulated one)")
        .range(0.0, 1000.0);
    command
        .add_option("--seconds", options->seconds, "start no further mix after this time, in seconds; 0 sets no limit")
        .capture_default_str()
        .non_negative();
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str();
    command.add_option("--noise", options->noise, kNoiseHelp).capture_default_str();
    command.add_verbosity();
    command.runs(action, [options] { return run_surface(*options); });
}

}  // namespace gputomo::cli
