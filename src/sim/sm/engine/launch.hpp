// Runs one launch of a kernel on the simulated GPU.
#pragma once

#include "costs/stalls.hpp"
#include "device/device.hpp"
#include "machine/machine.hpp"
#include "sim/exec/data_access.hpp"
#include "sim/exec/program.hpp"
#include "sim/machine_code/printing.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/memory/device_memory.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/sm/engine/counters.hpp"
#include "sim/sm/sampling/sampling_plan.hpp"
#include "sim/sm/units/costs.hpp"
#include "sim/sm/units/sass_costs.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::sim {

/// A kernel that is loaded: decoded, with the cost of each distinct mnemonic, and its code in device memory.
struct LoadedKernel {
    Program program;
    std::vector<Cost> costs;
    std::uint64_t code_address = 0;
};

/// A kernel of machine code that is loaded: its instructions with their costs, and its code and constant banks in
/// device memory.
struct LoadedMachineCode {
    machine_code::MachineProgram program;
    SassCosts costs;
    std::uint64_t code_address = 0;
    std::array<std::uint64_t, 8> bank_address{};  ///< of the constant banks
};

struct LaunchSetup {
    const machine::Machine& machine;
    const device::Launch& launch;
    DeviceMemory& memory;
    MemorySystem& memory_system;
    const TextureTable& textures;
    const CostModel& costs;
    const std::vector<std::int64_t>& clock_offsets;  ///< by SM: its clock register at the start
    double start_ns = 0;                             ///< %globaltimer at the start
    std::uint64_t local_address = 0;  ///< device memory for the local memory of all resident threads (local_memory_of)
    std::uint64_t grid_barrier = 0;   ///< device memory of a cooperative launch's barrier; 0 where there is none
    std::optional<SamplingPlan> sampling{};
    std::optional<std::uint64_t> most_instructions{};  ///< of warps, after which the launch is given up
    bool computes_products = true;                     ///< of matrices, which else are unknown values
    machine_code::Printed* printed = nullptr;          ///< gets what threads of machine code print
};

struct LaunchTime {
    double cycles = 0;
    SampledBlocks sampled;
    std::vector<costs::BlockSpan> timeline{};  ///< of the first SM, in the order in which its blocks ended
};

/// Runs to the end; adds to `counters`, which are estimates where blocks were skipped. Throws DeviceError (illegal
/// access, deadlock, trap: with kernel, block, warp and instruction), TimeLimitError, SamplingError, or NeedsProducts.
[[nodiscard]] LaunchTime run_launch(const LaunchSetup& setup, const LoadedKernel& kernel, Counters& counters);
/// `stalls` gets what the warps of the simulated blocks waited for, by the instruction's place in the code.
[[nodiscard]] LaunchTime run_launch(const LaunchSetup& setup, const LoadedMachineCode& kernel, Counters& counters,
                                    costs::StallRecord& stalls);

}  // namespace gputomo::sim
