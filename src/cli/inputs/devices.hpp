// "cuda:0", "sim:gtx280", "sim:FILE.json", "auto" -> a Device.
#pragma once

#include "device/device.hpp"
#include "machine/machine.hpp"
#include "sim/simulator.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gputomo::cli {

/// Measurement noise by level: 0 none, 1 a quiet GPU (jitter of 2 cycles, 0.2% outliers), 2 a busy one (4 cycles, 1%),
/// 3 more (6, 2%).
[[nodiscard]] sim::Noise noise_level(int level);

/// Throws InputError naming what is wrong with the name, or DeviceError.
[[nodiscard]] std::unique_ptr<device::Device> open_device(const std::string& name, std::uint64_t seed, int noise);
[[nodiscard]] std::unique_ptr<sim::SimulatedDevice> open_simulated(const std::string& name, std::uint64_t seed,
                                                                   int noise);

/// The description behind "sim:NAME" or "sim:FILE.json".
[[nodiscard]] machine::Machine simulated_machine(const std::string& name);

/// Names of the descriptions that are built in.
[[nodiscard]] std::vector<std::string> shipped_machines();

}  // namespace gputomo::cli
