// Whether a GPU can be scanned and its numbers be trusted: one check for each thing that may stand against it.
#pragma once

#include "cli/doctor/host.hpp"
#include "cli/doctor/scan_time.hpp"
#include "device/cuda/cuda.hpp"
#include "device/device.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::cli {

/// What a finding does to a scan.
enum class Effect {
    none,
    unknown,   ///< nobody tells, so it may harm
    harms,     ///< a scan runs, but its numbers are wrong, or are not those of an undisturbed GPU
    prevents,  ///< no scan runs
};
[[nodiscard]] std::string_view effect_name(Effect effect);

struct Check {
    std::string name;  ///< "clock"
    Effect effect = Effect::none;
    std::string found;   ///< a sentence
    std::string advice;  ///< what to do, in sentences; empty where nothing needs to be done
    nlohmann::ordered_json values = nlohmann::ordered_json::object();  ///< the numbers that the sentences tell
};

/// What was found on this computer.
struct DoctorFindings {
    std::string device;  ///< "cuda:0", "sim:h200"; empty where there is no GPU and none was named
    bool simulated = false;
    std::vector<std::string> gpus;  ///< names of all GPUs, in the driver's order
    std::string no_gpu;             ///< why there is no GPU
    HostFacts host;
    std::optional<device::cuda::Overview> overview;  ///< before the GPU was opened
    std::string name;                                ///< of the device
    std::string failure;                             ///< why it does not open, compile or launch
    std::optional<device::ClockState> state;         ///< after a launch
    std::vector<std::string> experiments;            ///< those of a scan
    std::optional<ScanTime> time;                    ///< of these experiments
};

[[nodiscard]] std::vector<Check> checks_of(const DoctorFindings& findings);

/// The worst effect of the checks, where `unknown` is none.
[[nodiscard]] Effect verdict(const std::vector<Check>& checks);

}  // namespace gputomo::cli
