// Opens the device that a command line names: "cuda:0", "sim:gtx280", "sim:FILE.json" or "auto".
#pragma once

#include "device/device.hpp"
#include "machine/machine.hpp"
#include "sim/simulator.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gputomo::cli {

/// The noise that --noise N simulates. Level 0 has none. Levels 1, 2 and 3 have a jitter of 2, 4 and 6 cycles and 0.2%,
/// 1% and 2% outliers; levels 2 and 3 also let the clock drift by 0.1% and 0.2%. Level 1 is like a quiet GPU, level 2
/// like a busy one. Throws InputError for other levels.
[[nodiscard]] sim::Noise noise_level(int level);

/// Throws InputError where the name is wrong and says what is expected; DeviceError where the device does not open.
[[nodiscard]] std::unique_ptr<device::Device> open_device(const std::string& name, std::uint64_t seed, int noise);
/// How the description of a simulated GPU is changed, and what of it is for the user.
struct DescriptionChanges {
    std::vector<std::string> set;      ///< PATH=VALUE
    std::vector<std::string> assumed;  ///< filled in: what was set, and what the description leaves open
};
/// Without `changes`, what the description leaves open is noted on standard error.
[[nodiscard]] std::unique_ptr<sim::SimulatedDevice> open_simulated(const std::string& name, std::uint64_t seed,
                                                                   int noise, DescriptionChanges* changes = nullptr);

/// "sim:h200" for "h200", "sim:H200" or "NVIDIA H200", a description that is built in; other names as they are.
[[nodiscard]] std::string with_prefix(const std::string& name);

/// 3 for "cuda:3". Throws InputError where no number follows.
[[nodiscard]] int cuda_index(const std::string& name);

/// The description behind "sim:NAME" or "sim:FILE.json".
[[nodiscard]] machine::Machine simulated_machine(const std::string& name);

/// Names of the descriptions that are built in.
[[nodiscard]] std::vector<std::string> shipped_machines();

}  // namespace gputomo::cli
