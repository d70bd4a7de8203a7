// The simulated GPU: a Device built from a machine description.
#pragma once

#include "device/device.hpp"
#include "machine/machine.hpp"
#include "sim/memory/noise.hpp"
#include "sim/sm/counters.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace gputomo::sim {

struct Options {
    std::string id = "sim";  ///< what Device::id() says
    std::uint64_t seed = 1;
    Noise noise;
};

class SimulatedDevice : public device::Device {
public:
    /// Counters of the last finished launch.
    [[nodiscard]] virtual const Counters& counters() const = 0;
};

/// Builds the simulated GPU. Throws InputError naming the field when the description lacks what simulation needs
/// or asks for what the simulator cannot do.
[[nodiscard]] std::unique_ptr<SimulatedDevice> make_device(const machine::Machine& machine, Options options);

}  // namespace gputomo::sim
