// Executes a kernel's machine code for its results and for what was executed, without timing.
#pragma once

#include "device/device.hpp"
#include "sim/exec/texture.hpp"
#include "sim/machine_code/access.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/memory/device_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace gputomo::sim::machine_code {

/// Sees what a launch executes, in order. Without an observer nothing of this costs time.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    /// The next instructions belong to this warp of the block.
    virtual void turn(std::size_t /*warp*/) {}
    /// A path of the warp with these `lanes` executes the instruction at this place in the code. The guard
    /// holds for `mask`.
    virtual void execute(std::size_t step, std::uint32_t lanes, std::uint32_t mask) = 0;
    /// The instruction of the last execute() is about to access memory for one lane. In global memory `offset`
    /// is an address. Otherwise it counts from the beginning of the block's shared memory, the thread's local
    /// memory or the constant bank.
    virtual void access(Space space, Access access, std::uint64_t offset, std::uint64_t bytes) = 0;
    /// The block has ended. The launch ends with it where this returns false.
    virtual bool end_block(std::uint64_t index) = 0;
};

struct FunctionalLaunch {
    device::Dim3 grid;
    device::Dim3 block;
    std::uint64_t dynamic_shared = 0;       ///< bytes
    std::span<const std::byte> parameters;  ///< as the kernel's parameter space holds them
    std::vector<std::uint64_t> blocks;      ///< the blocks to run, by linear index; all of them if empty
    /// Warp instructions after which a launch is given up with a TimeLimitError.
    std::uint64_t instruction_limit = std::uint64_t{1} << 40;
    Observer* observer = nullptr;
    const TextureTable* textures = nullptr;  ///< nullptr: there are none
};

/// What was executed.
struct Executed {
    std::vector<std::uint64_t> warp_instructions;    ///< by the instruction's place in the code
    std::vector<std::uint64_t> thread_instructions;  ///< those of threads whose guard holds
    std::uint64_t total = 0;                         ///< warp instructions
};

/// Runs blocks one after another, and the warps of a block in turns. Threads of a warp that diverged go on
/// independently and meet at convergence barriers. Throws DeviceError (illegal access, refused instruction, deadlock,
/// trap: with kernel, block, warp and instruction) or TimeLimitError.
[[nodiscard]] Executed run(const MachineProgram& program, const FunctionalLaunch& launch, const DeviceMemory& memory);

/// Executed warp instructions by operation: "IMAD" -> 1024.
[[nodiscard]] std::map<std::string, std::uint64_t> by_operation(const MachineProgram& program,
                                                                const Executed& executed);

}  // namespace gputomo::sim::machine_code
