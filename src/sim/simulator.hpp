// The simulated GPU: a Device built from a machine description.
#pragma once

#include "costs/stalls.hpp"
#include "device/device.hpp"
#include "machine/machine.hpp"
#include "sim/exec/texture.hpp"
#include "sim/machine_code/printing.hpp"
#include "sim/memory/noise.hpp"
#include "sim/sm/engine/counters.hpp"
#include "sim/sm/sampling/sampling_plan.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::sim {

struct Options {
    std::string id = "sim";  ///< what Device::id() says
    std::uint64_t seed = 1;
    Noise noise;
};

/// What a launch executed.
struct ExecutedCode {
    enum class Language : std::uint8_t { ptx, sass };
    Language language = Language::ptx;
    /// Machine instructions whose cost no scan timed.
    struct Assumed {
        std::string operation;   ///< "S2R"
        std::string assumption;  ///< what its cost was taken from
        std::uint64_t executed = 0;
    };
    std::vector<Assumed> assumed;
    /// What the warps of the simulated blocks waited for, by machine instruction. Empty for PTX.
    costs::StallRecord stalls;
    /// Texts of these instructions.
    std::vector<std::string> texts;
    /// Blocks of the SM that the first block ran on, at most costs::kMostSpans.
    std::vector<costs::BlockSpan> timeline;
    /// What the threads of the simulated blocks print. Empty for PTX.
    machine_code::Printed printed;
};

class SimulatedDevice : public device::Device {
public:
    /// Empties the caches that hold data of one SM, or of a few, as a GPU does when a launch begins. The cache of the
    /// whole GPU, TLBs and instruction caches keep what they have.
    virtual void forget_sm_data() = 0;
    /// Brings the pages of all memory that is allocated to the TLBs that outlast launches, as earlier kernels of the
    /// process do that used it.
    virtual void know_pages() = 0;
    /// Makes a texture object that kernels find by this handle. Throws InputError where it cannot be simulated.
    virtual void texture_at(device::Texture handle, const TextureObject& texture) = 0;
    [[nodiscard]] virtual const machine::Machine& machine() const = 0;
    /// From now on, launches are sampled as the plan says; without one they are simulated as a whole, as they are from
    /// the start. A sampled launch leaves memory incomplete: copy_to_host() then throws DeviceError.
    virtual void sample(std::optional<SamplingPlan> plan) = 0;
    /// From now on, a launch that executes more warp instructions ends with an InstructionLimitError; with nullopt none
    /// does. A limit of instructions gives the same result on a slow computer.
    virtual void limit_instructions(std::optional<std::uint64_t> most) = 0;
    /// Whether products of matrices are computed, as they are from the start. Launches of machine code without them
    /// leave memory incomplete, or end with machine_code::NeedsProducts.
    virtual void compute_products(bool computes) = 0;
    /// How much of the last finished launch was simulated.
    [[nodiscard]] virtual const SampledBlocks& sampled_blocks() const = 0;
    /// Counters of the last finished launch.
    [[nodiscard]] virtual const Counters& counters() const = 0;
    /// What the last finished launch executed.
    [[nodiscard]] virtual const ExecutedCode& executed_code() const = 0;
};

/// Builds the simulated GPU. Throws InputError naming the field when the description lacks what simulation needs
/// or asks for what the simulator cannot do.
[[nodiscard]] std::unique_ptr<SimulatedDevice> make_device(const machine::Machine& machine, Options options);

}  // namespace gputomo::sim
