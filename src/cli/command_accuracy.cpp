#include "cli/inputs/devices.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "files/output_file.hpp"
#include "replay/accuracy.hpp"
#include "replay/simulated.hpp"
#include "units/error.hpp"
#include "units/workers.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace gputomo::cli {
namespace {

struct AccuracyOptions {
    std::vector<std::string> suites;
    std::string captures, device = "sim:h200", gpu = "h200", out;
    std::int64_t time_limit_ms = 600'000;
    std::uint64_t seed = 1;
    std::uint64_t sample_above = kDefaultSampleAbove;
    int jobs = 1;
    bool held_out = false, json = false, whole = false;
};

std::vector<replay::SuiteEntry> entries_to_score(const AccuracyOptions& options) {
    std::vector<replay::SuiteEntry> entries;
    const auto add = [&](const std::filesystem::path& file, bool held_out) {
        for (auto& entry : replay::read_suite(file, options.gpu, held_out)) entries.push_back(std::move(entry));
    };
    for (const std::filesystem::path file : options.suites) {
        add(file, false);
        const auto other = file.parent_path() / "held-out" / file.filename();
        if (options.held_out && std::filesystem::exists(other)) add(other, true);
    }
    if (entries.empty())
        throw InputError(fmt::format("{}: no entry that the GPU '{}' measured; expected one such as h200",
                                     options.suites.front(), options.gpu));
    return entries;
}

std::string lost_by(const capture::Launch& launch) {
    if (!launch.reduction) return {};
    const auto& [unproven, approximate] = std::tie(launch.reduction->unproven, launch.reduction->approximate);
    return unproven.empty() || approximate.empty() ? unproven + approximate : unproven + "; " + approximate;
}

void score(replay::Scored& scored, const AccuracyOptions& options) {
    try {
        const auto folder = replay::capture_folder(options.captures, scored.entry);
        if (!std::filesystem::exists(folder)) throw InputError("it was not captured");
        const auto captured = capture::load(folder);
        const auto& launch = replay::launch_of(captured, scored.entry);
        replay::SimulationRequest request{.time_limit = std::chrono::milliseconds(options.time_limit_ms)};
        if (!options.whole) request.sampling = sim::SamplingPlan{options.sample_above};
        const auto simulated = replay::simulate([&] { return open_simulated(options.device, options.seed, 0); },
                                                captured, launch, request);
        scored.cycles = static_cast<double>(simulated.counters.profiler_cycles);
        scored.instructions = static_cast<double>(simulated.counters.warp_instructions);
        scored.dram_bytes = static_cast<double>(simulated.counters.dram_bytes);
        scored.blocks = simulated.blocks;
        scored.lost = lost_by(launch);
    } catch (const Error& error) {
        scored.failure = error.what();
    }
}

nlohmann::ordered_json json_of_scored(const replay::Scored& scored) {
    nlohmann::ordered_json json{{"suite", scored.entry.suite},
                                {"name", scored.entry.name},
                                {"held_out", scored.entry.held_out},
                                {"async", scored.entry.async},
                                {"measured_cycles", scored.entry.counters.at(replay::kCyclesCounter)},
                                {"error", scored.error()}};
    if (!scored.failure.empty()) {
        json["failure"] = scored.failure;
        return json;
    }
    json["cycles"] = scored.cycles;
    json["instructions"] = scored.instructions;
    json["dram_bytes"] = scored.dram_bytes;
    if (const auto ratio = scored.instruction_ratio()) json["instruction_ratio"] = *ratio;
    if (const auto ratio = scored.dram_ratio()) json["dram_ratio"] = *ratio;
    if (!scored.blocks.complete()) {
        json["sampled_blocks"] = scored.blocks.simulated;
        json["blocks"] = scored.blocks.of;
        json["sampling_error"] = scored.blocks.error;
    }
    if (!scored.lost.empty()) json["not_proven"] = scored.lost;
    return json;
}

nlohmann::ordered_json json_of_accuracy(const std::vector<replay::Scored>& scored, const AccuracyOptions& options) {
    const auto accuracy = replay::accuracy_of(scored);
    const auto origin = origin_of_command();
    nlohmann::ordered_json json{{"schema", "gputomo-accuracy-1"},
                                {"version", origin.version},
                                {"commit", origin.commit},
                                {"date", origin.date},
                                {"device", options.device},
                                {"gpu", options.gpu},
                                {"entries", accuracy.entries},
                                {"simulated", accuracy.simulated},
                                {"mean", accuracy.mean},
                                {"median", accuracy.median},
                                {"percentile_90", accuracy.percentile_90},
                                {"mean_of_simulated", accuracy.mean_of_simulated},
                                {"median_of_simulated", accuracy.median_of_simulated}};
    auto& list = json["kernels"] = nlohmann::ordered_json::array();
    for (const auto& one : scored) list.push_back(json_of_scored(one));
    return json;
}

int run_accuracy(const AccuracyOptions& options) {
    if (!options.out.empty()) {
        files::refuse_inputs("--out", options.out, options.suites);
        files::check_writable_file(options.out);
    }
    (void)open_simulated(options.device, options.seed, 0);  // a wrong name is no failure of each entry
    std::vector<replay::Scored> scored;
    for (auto& entry : entries_to_score(options)) scored.push_back({std::move(entry), {}});
    spread(
        static_cast<int>(scored.size()), static_cast<unsigned>(options.jobs),
        [&](int i) { score(scored[static_cast<std::size_t>(i)], options); },
        [&](int done) { fmt::print(stderr, "{} of {} kernels\n", done, scored.size()); });
    const std::string page = replay::accuracy_page(scored, options.device, options.gpu);
    if (!options.out.empty()) files::write_whole(options.out, page);
    if (options.json)
        fmt::print("{}\n", json_of_accuracy(scored, options).dump(2));
    else if (options.out.empty())
        fmt::print("{}", page);
    return 0;
}

}  // namespace

void add_accuracy(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<AccuracyOptions>();
    Command command(parent, "accuracy",
                    "Simulate the captured kernels of suites, and put cycles beside those that a GPU measured");
    command.add_option("suite", options->suites, "files of suites, such as suites/hecbench.json").required();
    command
        .add_option("--captures", options->captures,
                    "folder that `scripts/measure_suites.py capture` has written: SUITE/PROGRAM/HASH for each kernel")
        .required();
    command.add_option("--device", options->device, "simulated GPU: sim:NAME or sim:FILE.json").capture_default_str();
    command.add_option("--gpu", options->gpu, "name of the measurements to compare with").capture_default_str();
    command.add_flag("--held-out", options->held_out,
                     "also those that are held out until all other work on predictions is done");
    command.add_option("--jobs", options->jobs, "kernels that are simulated at the same time")
        .capture_default_str()
        .range(1, 256);
    command
        .add_option("--time-limit", options->time_limit_ms,
                    "longest time that one simulation may take, in milliseconds of processor time")
        .capture_default_str()
        .positive();
    auto above = command.add_option("--sample-above", options->sample_above, kSampleAboveHelp);
    above.capture_default_str().seed();
    command.add_flag("--whole", options->whole, "simulate all blocks of every launch").excludes(above);
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str().seed();
    command.add_flag("--json", options->json, "print JSON instead of the page");
    command.add_option("--out", options->out, "file for the page, in Markdown");
    command.runs(action, [options] { return run_accuracy(*options); });
}

}  // namespace gputomo::cli
