// A GPU known from its description alone, on which launches are predicted and simulated.
#pragma once

#include "answer/gpu.hpp"
#include "launch/launch.hpp"
#include "machine/machine.hpp"
#include "sim/simulator.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gputomo::answer {

class DescribedGpu {
public:
    /// Fills in what simulation needs and the description leaves open. `origin` is its name or file in messages. Throws
    /// InputError naming the field where that cannot be filled in.
    DescribedGpu(const machine::Machine& described, std::string origin);

    [[nodiscard]] Gpu gpu() const { return {device_->machine(), origin_}; }
    /// What was filled in: "caches.l1.scope = sm".
    [[nodiscard]] const std::vector<std::string>& assumed() const { return assumed_; }
    /// Compute capability, 90 for 9.0.
    [[nodiscard]] int sm() const { return device_->ptx_target().sm; }

    /// Throws InputError where the GPU cannot execute the launch: its machine code is for another one, or grid, block
    /// or dynamic shared memory are too large. `needs_machine_code` also refuses PTX.
    void check(const launch::Launch& launch, bool needs_machine_code) const;

private:
    std::string origin_;
    std::vector<std::string> assumed_;
    std::unique_ptr<sim::SimulatedDevice> device_;
};

}  // namespace gputomo::answer
