#include "cli/doctor/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Experiments on address translation allocate up to this share of the memory at once. With less, they fail.
constexpr double kShareOfMemory = 0.75;

/// Reasons for a low clock that disturb nothing: the GPU rests, or somebody chose the clock.
constexpr std::array<std::string_view, 3> kHarmlessReasons{"idle", "application clocks", "display clocks"};

template <class T>
Json json_of(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}
Json json_of(const std::optional<Bytes>& value) { return value ? Json(value->count()) : Json(); }

std::string known(const std::string& text) { return text.empty() ? "unknown" : text; }

Check driver_check(const DoctorFindings& findings) {
    Check check{.name = "driver", .found = {}, .advice = {}};
    if (findings.overview) {
        const auto& driver = findings.overview->identification;
        check.found = fmt::format("Version {}, for CUDA {} and older.", known(driver.driver), driver.cuda);
        check.values = {{"version", driver.driver}, {"cuda", driver.cuda}};
        return check;
    }
    check.effect = Effect::prevents;
    check.found = findings.no_gpu + ".";
    check.values = {{"version", Json()}, {"cuda", Json()}};
    check.advice = findings.host.kernel_driver
                       ? "The kernel has loaded an NVIDIA driver. In a container, give it the GPUs and the driver's "
                         "libraries (`--gpus all`). Elsewhere, allow your user to read and write /dev/nvidia*."
                       : "Install the NVIDIA driver where there is an NVIDIA GPU.";
    check.advice +=
        " Simulated GPUs need none: `gputomo scan --device sim:h200` and everything that predicts or simulates works.";
    return check;
}

Check gpu_check(const DoctorFindings& findings) {
    const auto& gpu = *findings.overview;
    Check check{.name = "gpu",
                .found = fmt::format("{} is {}, {} on bus {}.", findings.device, gpu.name, known(gpu.uuid),
                                     known(gpu.identification.pci_bus_id)),
                .advice = findings.gpus.size() > 1
                              ? fmt::format("Others are there, too: {}. `--device cuda:N` chooses one.",
                                            fmt::join(findings.gpus, ", "))
                              : "",
                .values = {{"name", gpu.name},
                           {"uuid", gpu.uuid},
                           {"pci_bus_id", gpu.identification.pci_bus_id},
                           {"all", findings.gpus}}};
    return check;
}

Check launch_check(const DoctorFindings& findings) {
    if (findings.failure.empty())
        return {.name = "launch", .found = "A kernel was compiled and launched.", .advice = {}};
    return {.name = "launch",
            .effect = Effect::prevents,
            .found = findings.failure,
            .advice = "No kernel runs. `nvidia-smi` shows whether the GPU answers and who may use it."};
}

/// Who may use the GPU, and whether it is whole.
Check mode_check(const device::cuda::GpuCondition& gpu) {
    using device::cuda::ComputeMode;
    Check check{.name = "modes", .found = {}, .advice = {}};
    const auto word = [](const std::optional<bool>& on) { return !on ? "unknown" : *on ? "on" : "off"; };
    const bool prohibited = gpu.compute_mode == ComputeMode::nobody;
    const bool exclusive = gpu.compute_mode == ComputeMode::one_process || gpu.compute_mode == ComputeMode::one_thread;
    const auto* const users = prohibited         ? "nobody"
                              : exclusive        ? "one process"
                              : gpu.compute_mode ? "any process"
                                                 : "unknown";
    check.found = fmt::format("Persistence {}, division into instances (MIG) {}, compute mode: {}.",
                              word(gpu.persistence), word(gpu.mig), users);
    check.values = {{"persistence", json_of(gpu.persistence)},
                    {"mig", json_of(gpu.mig)},
                    {"compute_mode", gpu.compute_mode ? Json(users) : Json()}};
    if (prohibited) {
        check.effect = Effect::prevents;
        check.advice = "Allow compute processes: `nvidia-smi --compute-mode=DEFAULT`.";
    } else if (gpu.mig == true) {
        check.effect = Effect::harms;
        check.advice =
            "A scan describes one instance, and others share its last cache and memory. Choose a GPU that is not "
            "divided, or switch MIG off.";
    } else if (!gpu.mig) {
        check.effect = Effect::unknown;
        check.advice = "Make sure that the GPU is not divided: a scan would describe one instance of it.";
    } else if (gpu.persistence == false) {
        check.advice = "The driver initialises the GPU for each program anew, which takes seconds and harms no number.";
    }
    return check;
}

std::string clock_text(const std::optional<double>& now, const std::optional<double>& most) {
    return fmt::format("{}{} MHz", now ? fmt::format("{:.0f}", *now) : "unknown",
                       most ? fmt::format(" of at most {:.0f}", *most) : "");
}

Check clock_check(const device::cuda::GpuCondition& gpu, const device::ClockState& state) {
    Check check{.name = "clock", .found = {}, .advice = {}};
    check.values = {{"sm_mhz", json_of(state.sm_mhz)},
                    {"most_sm_mhz", json_of(gpu.most_sm_mhz)},
                    {"memory_mhz", json_of(state.memory_mhz)},
                    {"most_memory_mhz", json_of(gpu.most_memory_mhz)},
                    {"throttle_reasons", json_of(state.throttle_reasons)},
                    {"temperature_celsius", json_of(state.temperature_celsius)},
                    {"power_watt", json_of(state.power_watt)}};
    const auto reasons = state.throttle_reasons.value_or(std::vector<std::string>{});
    check.found = fmt::format("SM {}, memory {}. {}", clock_text(state.sm_mhz, gpu.most_sm_mhz),
                              clock_text(state.memory_mhz, gpu.most_memory_mhz),
                              !state.throttle_reasons ? "What holds them down is unknown."
                              : reasons.empty()       ? "Nothing holds them down."
                                                : fmt::format("They are held down by: {}.", fmt::join(reasons, ", ")));
    const auto is_harmless = [](const std::string& reason) {
        return std::ranges::find(kHarmlessReasons, reason) != kHarmlessReasons.end();
    };
    const auto is_chosen = [](const std::string& reason) { return reason != "idle"; };
    if (!std::ranges::all_of(reasons, is_harmless)) {
        check.effect = Effect::harms;
        check.advice =
            "Rates, and latencies of memory in cycles, change with the clocks. Let the GPU cool down, raise its power "
            "limit, or lock a clock that it can keep (`nvidia-smi --lock-gpu-clocks`).";
    } else if (!state.throttle_reasons || !state.sm_mhz) {
        check.effect = Effect::unknown;
        check.advice =
            "A scan measures the SM clock, and says where it changed. NVML (libnvidia-ml.so.1) would tell why.";
    } else if (std::ranges::any_of(reasons, is_chosen) ||
               (reasons.empty() && gpu.most_sm_mhz && *state.sm_mhz < *gpu.most_sm_mhz)) {
        check.advice =
            "Numbers hold at this clock. If it is locked by mistake: `nvidia-smi --reset-gpu-clocks` and "
            "`--reset-applications-clocks`.";
    }
    return check;
}

Check process_check(const device::cuda::GpuCondition& gpu) {
    Check check{.name = "processes", .found = {}, .advice = {}};
    check.values = {{"other_processes", json_of(gpu.processes)}};
    if (!gpu.processes) {
        check.effect = Effect::unknown;
        check.found = "Whether other processes compute on the GPU is unknown.";
        check.advice = "Make sure that none does.";
    } else if (gpu.processes->empty()) {
        check.found = "No other process is known to compute on the GPU.";
    } else {
        check.effect = Effect::harms;
        check.found = fmt::format("Others compute on the GPU, too. Process ids: {}.", fmt::join(*gpu.processes, ", "));
        check.advice = "They take time, cache and bandwidth from what is measured. End them, or choose another GPU.";
    }
    return check;
}

Check memory_check(const device::cuda::GpuCondition& gpu) {
    Check check{.name = "memory", .found = {}, .advice = {}};
    check.values = {{"bytes", json_of(gpu.memory)}, {"free_bytes", json_of(gpu.free_memory)}};
    if (!gpu.memory || !gpu.free_memory) {
        check.effect = Effect::unknown;
        check.found = "How much memory is free is unknown.";
        check.advice = fmt::format("Experiments allocate up to {:.0f}% of the memory at once.", 100 * kShareOfMemory);
        return check;
    }
    const auto gib = [](Bytes bytes) { return std::ldexp(static_cast<double>(bytes.count()), -30); };
    check.found = fmt::format("{:.1f} of {:.1f} GiB are free.", gib(*gpu.free_memory), gib(*gpu.memory));
    if (gib(*gpu.free_memory) >= kShareOfMemory * gib(*gpu.memory)) return check;
    check.effect = Effect::harms;
    check.advice = fmt::format(
        "Experiments allocate up to {:.0f}% of the memory at once, and fail where that is not free. End the processes "
        "that hold it.",
        100 * kShareOfMemory);
    return check;
}

Check ecc_check(const device::ClockState& state) {
    Check check{.name = "ecc", .found = {}, .advice = {}};
    check.values = {{"ecc", json_of(state.ecc)}, {"uncorrected_errors", json_of(state.ecc_uncorrected)}};
    check.found = !state.ecc ? "The GPU reports no error-correcting code."
                  : !*state.ecc
                      ? "Memory has no error-correcting code."
                      : fmt::format("Memory has an error-correcting code. Errors that it could not correct: {}.",
                                    state.ecc_uncorrected ? fmt::format("{}", *state.ecc_uncorrected) : "unknown");
    if (state.ecc_uncorrected.value_or(0) > 0) {
        check.effect = Effect::harms;
        check.advice = "Memory has lost data since the driver was loaded. Ask who runs the GPU to reset or replace it.";
    }
    return check;
}

Check counter_check(const HostFacts& host) {
    Check check{.name = "counters", .found = {}, .advice = {}};
    check.values = {{"for_root_only", json_of(host.counters_for_root_only)}};
    if (!host.counters_for_root_only)
        check.found = "Who may read performance counters is unknown. gputomo reads none.";
    else if (!*host.counters_for_root_only)
        check.found = "Everybody may read performance counters. gputomo reads none.";
    else {
        check.found = "Only root may read performance counters. gputomo reads none.";
        check.advice =
            "Profilers beside it need them: set NVreg_RestrictProfilingToAdminUsers=0 of the kernel's module.";
    }
    return check;
}

Check compiler_check(const HostFacts& host) {
    const auto place = [](const std::string& file) { return file.empty() ? "not on the PATH" : file; };
    Check check{.name = "compilers",
                .found = fmt::format("ptxas: {}. nvcc: {}. A scan needs neither.", place(host.ptxas), place(host.nvcc)),
                .advice = {}};
    check.values = {{"ptxas", host.ptxas.empty() ? Json() : Json(host.ptxas)},
                    {"nvcc", host.nvcc.empty() ? Json() : Json(host.nvcc)}};
    if (host.ptxas.empty())
        check.advice =
            "`predict --grid` and `simulate --code sass` of a PTX file need ptxas, which CUDA's toolkit has.";
    return check;
}

Check scan_check(const DoctorFindings& findings) {
    Check check{.name = "scan", .found = {}, .advice = {}};
    check.values = {{"experiments", findings.experiments}, {"seconds", Json()}, {"recorded_on", Json::array()}};
    check.found = fmt::format("A scan runs {} experiments.", findings.experiments.size());
    if (findings.simulated) {
        check.advice =
            "Simulated, they take minutes. `--only ID` runs one and those that it needs, `--quick` is faster.";
        return check;
    }
    if (!findings.time) return check;
    const auto& time = *findings.time;
    check.values["seconds"] = time.seconds;
    check.values["recorded_on"] = time.gpus;
    check.values["unrecorded_experiments"] = time.unrecorded;
    check.found += fmt::format(" They took about {:.0f} s on {}", time.seconds, fmt::join(time.gpus, " and "));
    check.found += time.unrecorded == 0 ? "." : fmt::format(", without {} that were not timed there.", time.unrecorded);
    return check;
}

}  // namespace

std::string_view effect_name(Effect effect) {
    switch (effect) {
        case Effect::none: return "ok";
        case Effect::unknown: return "unknown";
        case Effect::harms: return "harms";
        case Effect::prevents: return "prevents";
    }
    return "unknown";
}

std::vector<Check> checks_of(const DoctorFindings& findings) {
    std::vector<Check> checks;
    if (!findings.simulated) checks.push_back(driver_check(findings));
    if (findings.simulated)
        checks.push_back(
            {.name = "gpu",
             .found = fmt::format("{} is {}, simulated. It needs no driver.", findings.device, findings.name),
             .advice = {},
             .values = {{"name", findings.name}}});
    if (findings.overview) checks.push_back(gpu_check(findings));
    if (findings.overview || findings.simulated) checks.push_back(launch_check(findings));
    if (findings.overview) {
        const auto state = findings.state.value_or(device::ClockState{});
        const auto& gpu = findings.overview->condition;
        checks.push_back(mode_check(gpu));
        checks.push_back(clock_check(gpu, state));
        checks.push_back(process_check(gpu));
        checks.push_back(memory_check(gpu));
        checks.push_back(ecc_check(state));
    }
    if (!findings.simulated) checks.push_back(counter_check(findings.host));
    checks.push_back(compiler_check(findings.host));
    checks.push_back(scan_check(findings));
    return checks;
}

Effect verdict(const std::vector<Check>& checks) {
    auto worst = Effect::none;
    for (const auto& check : checks)
        if (check.effect != Effect::unknown) worst = std::max(worst, check.effect);
    return worst;
}

}  // namespace gputomo::cli
