// A launch in the memory of a simulated GPU, which runs it with timing.
#pragma once

#include "device/device.hpp"
#include "launch/launch.hpp"
#include "sim/simulator.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace gputomo::launch {

class PlacedLaunch {
public:
    /// Places buffers, textures and code on `gpu`. Throws InputError where the code cannot be loaded or has no such
    /// kernel, and where memory or parameters do not fit it.
    PlacedLaunch(sim::SimulatedDevice& gpu, const Launch& launch);

    /// Throws DeviceError or TimeLimitError as device::Kernel::launch() does.
    device::LaunchResult run(std::chrono::milliseconds time_limit);

    /// The content of buffer number `index` of the launch.
    [[nodiscard]] std::vector<std::byte> content(std::size_t index) const;

    /// Compares memory with what another GPU left there.
    [[nodiscard]] std::vector<Difference> compare(const std::vector<Buffer>& results,
                                                  const Tolerance& tolerance = {}) const;

private:
    /// Where a variable of the module lies on this GPU; nullopt for a constant, and one of another module.
    [[nodiscard]] std::optional<device::Address> variable_address(const Buffer& buffer) const;
    void place(const Buffer& buffer);
    void fill(const Buffer& buffer, device::Address to);
    void fill_constants(const Buffer& buffer);
    void set_arguments(const Launch& launch);

    sim::SimulatedDevice& gpu_;
    std::string code_;
    bool is_cubin_;
    std::vector<device::Address> addresses_;  ///< of the buffers
    std::vector<std::size_t> sizes_;
    std::unique_ptr<device::Module> module_;
    device::Kernel* kernel_ = nullptr;
    device::Launch launch_;
};

}  // namespace gputomo::launch
