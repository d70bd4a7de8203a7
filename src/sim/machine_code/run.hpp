// Executes a kernel's machine code for its results and for what was executed, without timing.
#pragma once

#include "device/device.hpp"
#include "sim/exec/texture.hpp"
#include "sim/machine_code/access.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/wait_watch.hpp"
#include "sim/memory/device_memory.hpp"
#include "units/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace gputomo::sim::machine_code {

class UnknownMemory;

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
    /// Something arrives at a barrier in shared memory, whose phase ends with it where `ends` holds.
    virtual void arrive(std::uint64_t /*barrier*/, bool /*ends*/) {}
    /// `threads` threads arrive at a barrier of the block. It expects `expected` of them, or all of the block where
    /// that is 0.
    virtual void meet(std::uint32_t /*barrier*/, std::uint32_t /*expected*/, std::uint32_t /*threads*/,
                      bool /*waits*/) {}
    /// A thread asks whether a phase of a barrier in shared memory has ended. Where the barrier is kSpareRegisters, its
    /// warp asks whether the block has registers for it.
    virtual void check(std::uint64_t /*barrier*/, bool /*ended*/) {}
    /// The block has ended. The launch ends with it where this returns false.
    virtual bool end_block(std::uint64_t index) = 0;
};

/// What threads can ask of the GPU; zeros where it is not known.
struct GpuFacts {
    std::uint32_t sms = 0;
    std::uint32_t warps_of_sm = 0;  ///< most that an SM holds
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
    GpuFacts gpu;
    /// Whether warps that wait for what others write are found. A block that waits forever is then a WaitsForever.
    bool watches_waits = false;
    /// Reads in a row of the same values from the same addresses after which a warp is taken to wait forever, although
    /// its registers change. 0: it goes on.
    std::uint32_t most_polls = 0;
    /// Where memory is not known because products of matrices are not computed. nullptr: they are computed. If
    /// something other than data depends on them, NeedsProducts is thrown (unknown_values.hpp).
    UnknownMemory* unknown = nullptr;
};

/// All warps of a block wait for what only another block can write, or one of them has reached
/// FunctionalLaunch::most_polls.
class WaitsForever : public DeviceError {
public:
    WaitsForever(const std::string& what, const Wait& wait) : DeviceError(what), wait_(wait) {}
    [[nodiscard]] const Wait& wait() const { return wait_; }

private:
    Wait wait_;
};

/// What was executed.
struct Executed {
    std::vector<std::uint64_t> warp_instructions;    ///< by the instruction's place in the code
    std::vector<std::uint64_t> thread_instructions;  ///< those of threads whose guard holds
    std::vector<std::uint64_t> further_values;       ///< that MATCH.ANY found beyond the first one of each warp
    std::uint64_t total = 0;                         ///< warp instructions
    /// Warps that waited for others and went on later, or may have; empty where waits are not watched.
    std::vector<Wait> waits;
};

/// Runs blocks one after another, and the warps of a block in turns. Threads of a warp that diverged go on
/// independently and meet at convergence barriers. Throws DeviceError (illegal access, refused instruction, deadlock,
/// trap: with kernel, block, warp and instruction) or TimeLimitError.
[[nodiscard]] Executed run(const MachineProgram& program, const FunctionalLaunch& launch, const DeviceMemory& memory);

/// "warp 0 of block 5 reads 0x7f00 again and again (LDG.E R2, [R4] at 0x40)".
[[nodiscard]] std::string text_of(const MachineProgram& program, const Wait& wait);

/// Executed warp instructions by operation: "IMAD" -> 1024.
[[nodiscard]] std::map<std::string, std::uint64_t> by_operation(const MachineProgram& program,
                                                                const Executed& executed);

}  // namespace gputomo::sim::machine_code
