// Runs one launch: places blocks on SMs and issues their warps' instructions in time order, skipping idle time.
//
// Each scheduler of each SM is an event: the time at which one of its warps can issue next. The earliest event is
// handled, the chosen warp issues one instruction, and the scheduler's next event is computed from its warps' registers
// (scoreboard), units, barriers and instruction supply. Nothing happens between events, so idle cycles cost nothing.
#pragma once

#include "device/device.hpp"
#include "machine/machine.hpp"
#include "sim/memory/device_memory.hpp"
#include "sim/exec/program.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/sm/counters.hpp"
#include "sim/sm/costs.hpp"

#include <functional>
#include <memory>
#include <unordered_map>

namespace gputomo::sim {

/// A kernel that is loaded: decoded, with the cost of each distinct mnemonic, and its code in device memory.
struct LoadedKernel {
    Program program;
    std::vector<Cost> costs;
    std::uint64_t code_address = 0;
};

struct LaunchSetup {
    const machine::Machine& machine;
    const LoadedKernel& kernel;
    const device::Launch& launch;
    DeviceMemory& memory;
    MemorySystem& memory_system;
    const std::unordered_map<device::Texture, std::pair<std::uint64_t, std::uint64_t>>& textures;  ///< address, bytes
    const CostModel& costs;
    const std::vector<std::int64_t>& clock_offsets;  ///< by SM
    double start_ns = 0;                             ///< %globaltimer at the start
    std::uint64_t local_address = 0;  ///< device memory for the local memory of all resident threads (local_memory_of)
};

/// Bytes of one machine instruction where the description does not say.
inline constexpr std::int64_t kDefaultInstructionBytes = 8;

/// Runs to the end and returns the cycles it took; adds to `counters`.
/// Throws DeviceError (illegal access, deadlock, trap: with kernel, block, warp and instruction) or TimeLimitError.
[[nodiscard]] double run_launch(const LaunchSetup& setup, Counters& counters);

/// What a block asks of its SM.
struct BlockNeeds {
    std::uint64_t threads = 0;
    std::uint64_t shared_bytes = 0;
    int registers_per_thread = 0;
    std::size_t arguments = 0;
};

struct Residency {
    std::uint32_t blocks = 0;           ///< that are on an SM at once
    std::uint64_t shared_of_block = 0;  ///< bytes that a block takes of the SM's shared memory
    std::string why;                    ///< not empty: no block fits, for this reason
};

[[nodiscard]] Residency resident_blocks(const machine::Machine& machine, const BlockNeeds& needs);

/// Device memory that the local memory of a launch takes: frames of all threads that can be resident.
[[nodiscard]] std::uint64_t local_memory_of(const machine::Machine& machine, const Program& program);

}  // namespace gputomo::sim
