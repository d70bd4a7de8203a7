#include "cli/doctor/checks.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "experiments/experiment.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "scan/plan.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DoctorOptions {
    std::string device = "auto";
    bool json = false;
};

/// Compiles and launches an empty kernel, and stores a word and reads it. Throws DeviceError.
void try_device(device::Device& device) {
    ptx::KernelBuilder kernel("empty", measure::target_of(device));
    kernel("ret");
    measure::CompiledKernel(device, kernel, {}).launch({}, {}, {});
    device::Buffer memory(device, Bytes{sizeof(std::uint32_t)});
    const std::array<std::uint32_t, 1> word{0x600D600D};
    memory.write(std::span<const std::uint32_t>(word));
    if (memory.read<std::uint32_t>(1).front() != word.front())
        throw DeviceError(fmt::format("{}: memory returned another word than was stored", device.id()));
}

void add_trial(DoctorFindings& findings) {
    try {
        const auto device = open_device(findings.device, 1, 0);
        findings.name = device->name();
        try_device(*device);
        findings.state = device->clock_state();
    } catch (const DeviceError& e) {
        findings.failure = e.what();
    }
}

void add_plan(DoctorFindings& findings) {
    const auto budget = findings.simulated ? measure::Budget::small : measure::Budget::full;
    for (const auto* experiment : scan::plan_of_all(experiments::catalogue(), budget))
        findings.experiments.emplace_back(experiment->id);
    if (!findings.simulated) findings.time = scan_time(recorded_scan_times(), findings.experiments, findings.name);
}

DoctorFindings examine(const std::string& named) {
    DoctorFindings findings;
    const auto present = device::cuda::presence();
    for (int i = 0; i < present.count; ++i) findings.gpus.push_back(device::cuda::name(i));
    findings.no_gpu = present.reason;
    findings.device = with_prefix(named);
    if (findings.device == "auto") findings.device = present.count > 0 ? "cuda:0" : "";
    const char* const path = std::getenv("PATH");
    findings.host = host_facts("/", path == nullptr ? "" : path);
    const bool real = findings.device.starts_with("cuda:");
    findings.simulated = !real && !findings.device.empty();
    if (real) {
        const int index = cuda_index(findings.device);
        if (present.count > 0) findings.overview = device::cuda::overview(index);
    }
    if (findings.overview || findings.simulated) add_trial(findings);
    if (findings.overview) findings.name = findings.overview->name;
    add_plan(findings);
    return findings;
}

std::string sentence_of(Effect verdict, const DoctorFindings& findings) {
    if (verdict == Effect::prevents) return "No scan can run.";
    if (verdict == Effect::harms) return "A scan can run, but what harms it makes its numbers wrong or less certain.";
    return findings.simulated ? "A scan can run, and its numbers are those of the simulated GPU."
                              : "A scan can run, and its numbers can be trusted.";
}

void print_text(const std::vector<Check>& checks, const std::string& sentence) {
    for (const auto& check : checks) {
        out::print("{:<9} {:<10} {}\n", effect_name(check.effect), check.name, check.found);
        if (!check.advice.empty()) out::print("{:<20} {}\n", "", check.advice);
    }
    out::print("\n{}\n", sentence);
}

void print_checks(const std::vector<Check>& checks, const DoctorFindings& findings) {
    Json rows = Json::array();
    for (const auto& check : checks)
        rows.push_back({{"name", check.name},
                        {"effect", effect_name(check.effect)},
                        {"found", check.found},
                        {"advice", check.advice},
                        {"values", check.values}});
    const auto worst = verdict(checks);
    print_json(Json{{"schema", "gputomo-doctor-1"},
                    {"device", findings.device},
                    {"can_scan", worst != Effect::prevents},
                    {"trusted", worst == Effect::none},
                    {"checks", std::move(rows)}},
               origin_of_command());
}

int doctor(const DoctorOptions& options) {
    const auto findings = examine(options.device);
    const auto checks = checks_of(findings);
    const auto worst = verdict(checks);
    if (options.json)
        print_checks(checks, findings);
    else
        print_text(checks, sentence_of(worst, findings));
    return worst == Effect::prevents ? kDeviceFailed : worst == Effect::harms ? kFailed : kDone;
}

}  // namespace

void add_doctor(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<DoctorOptions>();
    Command command(parent, "doctor", "Say whether a GPU can be scanned, what would harm the numbers, and what to do");
    command.add_option("--device", options->device, kDeviceHelp).capture_default_str();
    command.add_flag("--json", options->json, "print JSON instead of text");
    command.runs(action, [options] { return doctor(*options); });
}

}  // namespace gputomo::cli
