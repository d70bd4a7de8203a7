// Executes a whole launch without timing, in an order that a GPU could have: the blocks that it holds at once go on
// together.
#pragma once

#include "sim/machine_code/run.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::sim::machine_code {

/// What is run.
struct PreparedRun {
    const MachineProgram& program;
    const FunctionalLaunch& launch;
    const DeviceMemory& memory;
};

/// The GPU that holds the blocks, as far as their order needs it.
struct BlockOrder {
    std::uint64_t sms = 1;
    std::uint64_t blocks_of_sm = 1;  ///< that an SM holds at once
    /// Rough cycles of each instruction by its place in the code. A block whose clock is behind goes on first.
    std::vector<float> cycles;
    double replacement = 0;  ///< cycles from the end of a block to the start of the next one on its SM
};

/// Sees blocks start and end.
class BlockWatcher {
public:
    BlockWatcher() = default;
    BlockWatcher(const BlockWatcher&) = delete;
    BlockWatcher& operator=(const BlockWatcher&) = delete;
    virtual ~BlockWatcher() = default;

    /// A block starts on an SM. Returns who sees what it executes until it ends, and nothing of other blocks.
    [[nodiscard]] virtual Observer& start_block(std::uint64_t block, std::uint64_t sm) = 0;
    virtual void end_block(Observer& observer, std::uint64_t block, std::uint64_t sm) = 0;
};

/// Runs all blocks. Block i starts on SM i modulo the number of SMs, as long as there is room. Each later block starts
/// where one has ended. Memory is shared, and stays as the launch leaves it. Finds waits; FunctionalLaunch::blocks and
/// its observer are not used. `executed` counts also where this throws.
///
/// Throws DeviceError as run() does, WaitsForever where all blocks on the GPU wait, and TimeLimitError.
void run_resident(const PreparedRun& prepared, const BlockOrder& order, BlockWatcher& watcher, Executed& executed);

}  // namespace gputomo::sim::machine_code
