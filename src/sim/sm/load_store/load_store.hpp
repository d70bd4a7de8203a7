// The load/store unit: when the memory accesses of a warp complete, and what they cost the warp and its scheduler.
#pragma once

#include "costs/constant_lines.hpp"
#include "costs/returning_words.hpp"
#include "costs/shared_queue.hpp"
#include "machine/machine.hpp"
#include "ptx/ir.hpp"
#include "sim/memory/global_loads.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/sm/load_store/load_ports.hpp"
#include "sim/sm/load_store/shared_banks.hpp"
#include "sim/sm/units/scheduler.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::sim {

struct LoadStoreSpec {
    SharedBanks banks;
    double store_queue = 0;  ///< cycles of stores that may wait before their warp does
    GlobalLoads global_loads;
    SchedulerSpec scheduler;
    double shared_slots = 1;     ///< issue slots of an access to shared memory
    double shared_to_cores = 0;  ///< cycles by which data from shared memory come later for the CUDA cores
    std::array<double, kPathNames.size()> path_slots{1, 1, 1, 1, 1};  ///< issue slots of an access, by PathKind
    std::uint32_t served_per_issue = 0;  ///< transactions or bank-conflict ways that one issue serves; 0: all
    bool read_only_is_texture = false;   ///< ld.global.nc takes the texture path
    LoadPorts ports{};
    costs::ConstantLineSpec constant_lines;
    bool atomic_passes = false;  ///< lanes that ask for one address take one pass each; the description knows units
};
/// Throws InputError for intervals that are not positive.
[[nodiscard]] LoadStoreSpec load_store_spec_of(const machine::Machine& machine, const GlobalLoads& global_loads);

struct LoadStoreState {
    std::vector<double> banks_free;          ///< by SM: when the banks of shared memory can take an access
    std::vector<costs::SharedQueue> queues;  ///< by SM: accesses that wait for the banks
    /// By PathKind and SM: when the path can take the next transaction. Unused where banks_free says it.
    std::array<std::vector<double>, kPathNames.size()> ports_free;
    std::uint64_t requests = 0;              ///< warp instructions that went to the memory system
    std::uint64_t bank_conflict_cycles = 0;  ///< of shared memory
};

/// No access is in flight on any of the SMs.
[[nodiscard]] LoadStoreState idle_load_store(const costs::SharedQueueSpec& queue, std::size_t sms,
                                             std::size_t schedulers_per_sm);

struct LoadStoreUnit {
    LoadStoreSpec spec;
    Coalescers coalescers;
    LoadStoreState state;
    MemorySystem& memory;
};

/// A memory instruction of a warp, whichever machine language it was written in.
struct MemoryInstruction {
    AccessKind kind = AccessKind::load;
    ptx::Space space = ptx::Space::global;  ///< not generic: the space that the addresses point into
    std::uint32_t bytes = 4;                ///< of each thread, all elements together
    std::uint32_t element_bytes = 4;
    bool moves_data = true;        ///< false: a prefetch
    bool texture = false;          ///< takes the texture path
    double fetches = 1;            ///< of a texture: one-dimensional fetches of 4 bytes that would take as long
    bool skips_near = false;       ///< .cg, .cv, .volatile: not served by the SM's own caches
    std::uint32_t prefetched = 0;  ///< bytes of the block that the last cache reads at a miss; 0: what is asked for
    bool read_only = false;        ///< .nc
    bool uniform = false;          ///< a constant of the uniform datapath, which does not pass the port of the others
    costs::AtomicClass atomic_class = costs::AtomicClass::integer;
    bool sums_lanes = false;   ///< an atomic on shared memory that counts the lanes of an address at once
    bool one_of_bank = false;  ///< an atomic on shared memory that serves one lane of each bank
};

/// What a warp's atomic asks of one line in one pass, on its way to the unit that performs it.
struct SentAtomic {
    Transaction transaction;
    double arrival = 0;       ///< it has left the SM
    std::uint32_t lanes = 0;  ///< that ask for it
};

struct WarpAccess {
    MemoryInstruction instruction;
    const std::array<std::uint64_t, 32>& addresses;  ///< by lane; within its space, for shared and local memory
    std::uint32_t mask = 0;                          ///< lanes that take part; at least one
    std::uint32_t sm = 0;
    std::uint32_t scheduler = 0;                 ///< within the SM
    std::uint64_t local_frames = 0;              ///< device address of the local memory of the warp's 32 threads
    costs::ReturningWords* returning = nullptr;  ///< of the warp
    /// Gets the requests of an atomic that waits for its turn in a unit's queue; nullptr: it is performed at once.
    std::vector<SentAtomic>* sent = nullptr;
};

/// All times are cycles of the launch.
struct AccessTimes {
    double done = 0;                   ///< data are back (load, atomic), or the store has left the SM's queues
    double warp_free = 0;              ///< earliest next issue of the warp, even one paired with this instruction
    double warp_gap = 0;               ///< earliest next issue of the warp that is not paired with this instruction
    double scheduler_free = 0;         ///< earliest next issue of the scheduler
    double last = 0;                   ///< the launch is not over before
    double later_for_cores = 0;        ///< cycles by which the data come later for the CUDA cores
    double returning = 0, spread = 0;  ///< of the results of an atomic that waits for its turn, as ReturnedWords says
};

/// Performs an access to shared, local, global, constant or texture memory. Parameters are not in memory.
[[nodiscard]] AccessTimes access(LoadStoreUnit& unit, const WarpAccess& access, double now);

/// When the scheduler of the SM can issue an access to shared memory.
[[nodiscard]] inline double shared_free(const LoadStoreState& state, std::uint32_t sm, std::uint32_t scheduler) {
    const costs::SharedQueue& queue = state.queues[sm];
    return queue.described() ? queue.room(scheduler) : state.banks_free[sm];
}

/// One line for the report of a deadlock.
[[nodiscard]] std::string describe(const LoadStoreState& state, std::uint32_t sm);

}  // namespace gputomo::sim
