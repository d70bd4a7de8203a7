// What sampled blocks of a launch executed, and which memory they touched: plain data that a model gives a time to.
#pragma once

#include "costs/atomic_units.hpp"
#include "costs/block_room.hpp"
#include "costs/constant_operands.hpp"
#include "costs/partial_stores.hpp"
#include "costs/register_ports.hpp"
#include "costs/stalls.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::launch {

/// How an instruction takes part in the time of its warp.
enum class StepKind : std::uint8_t {
    compute,
    global,        ///< an access to global or local memory
    shared,        ///< an access to shared memory
    constant,      ///< a load through the cache of constants
    copy,          ///< an asynchronous copy from global to shared memory
    copy_barrier,  ///< is complete when all copies before it are
    bulk_copy,     ///< between global and shared memory, as one piece
    bulk_group,    ///< is complete when all bulk copies to global memory before it are
    wait,          ///< waits until at most `left` instructions of `barrier` are in flight
    fence,         ///< waits for the warp's loads and stores, and `latency` cycles longer (0: for its loads alone)
    block_barrier,
    branch
};

inline constexpr std::uint8_t kNoDependence = 7;

/// One instruction of the kernel's code with its cost.
struct ProfiledStep {
    std::uint64_t address = 0;  ///< bytes from the kernel's first instruction
    std::string text;
    StepKind kind = StepKind::compute;
    int unit = -1;        ///< index into LaunchProfile::units; -1: none but an issue slot
    double interval = 0;  ///< cycles for which a warp occupies a scheduler's share of the unit, or the SM's unit
    double latency = 0;   ///< cycles to the result, of what is no memory access
    double slots = 1;     ///< issue slots
    costs::OperandReads reads{};
    bool shows_stores = false;                    ///< FENCE.VIEW.ASYNC.S: waits for the warp's stores to shared memory
    std::uint32_t constant = costs::kNoConstant;  ///< place of its constant operand
    bool goes_on = false;                         ///< its warp is the first to issue in the next cycle
    bool passes_barriers = false;                 ///< issues behind a barrier of its block before that is complete
    bool defers_waiting = false;                  ///< a barrier of the block whose warp goes on
    double beside = 0;                            ///< of a product of a warp group: cycles between arithmetic beside it
    std::uint8_t results = 0;              ///< registers of an arithmetic instruction, which waits beside products
    bool queues = false;                   ///< it waits for its unit after it has issued: a product of a warp group
    std::uint8_t stall = 1;                ///< cycles until the next instruction of the warp
    float rejoins = 0;                     ///< cycles until a warp goes on whose threads meet again; 0: its stall
    std::uint8_t waits = 0;                ///< dependence barriers that have to be released, as bits
    std::uint8_t written = kNoDependence;  ///< the barrier that its result releases
    std::uint8_t read = kNoDependence;     ///< the barrier that is released when its operands were read
    std::uint8_t barrier = kNoDependence;  ///< of a wait
    std::uint32_t left = 0;
    costs::StallKind stalls{};  ///< what a warp waits for that waits for it
};

struct ProfiledUnit {
    std::string name;
    bool of_sm = false;  ///< all schedulers feed it; otherwise each has a share
};

enum class AccessKind : std::uint8_t { load, store, atomic };

/// A line of `kTouchedLineBytes` bytes and its sectors that an access touches. Those of constants lie in a space of
/// their own.
struct TouchedLine {
    std::uint64_t line = 0;                              ///< address / kLineBytes
    std::uint32_t sectors = 0;                           ///< as bits
    bool partial = false;                                ///< threads touch only a part of these sectors
    bool again = false;                                  ///< an earlier pass of the atomic touched the line
    bool lone = false;                                   ///< one thread takes part in this pass of the atomic
    std::uint8_t asked = 0;                              ///< bytes that the threads of this pass ask for
    costs::LineBytes written = costs::LineBytes::all();  ///< by a store that is partial
};

/// The most bytes that a constant bank can have, of which a launch writes bank 0.
inline constexpr std::uint64_t kConstantBankBytes = 64 * 1024;

inline constexpr std::uint64_t kTouchedLineBytes = 128, kTouchedSectorBytes = 32;
/// Local memory is recorded at addresses from here on, where no allocation is, so that its lines differ from those of
/// global memory.
inline constexpr std::uint64_t kLocalMemory = std::uint64_t{1} << 56;

/// What takes the lines or words of an SM's accesses one after the other, whichever warps they are of. `storage` serves
/// shared memory and, where it is one with the first cache, global memory.
enum class Stage : std::uint8_t { storage, first_cache, constants, textures };

/// One memory instruction of a warp. The lines of an atomic are listed pass by pass: of the threads that ask for one
/// address, each pass has one.
struct WarpAccess {
    std::uint32_t first = 0;  ///< into BlockTrace::lines
    std::uint16_t lines = 0;
    AccessKind kind = AccessKind::load;
    bool skips_near = false;       ///< is not served by the SM's own caches
    bool tensor = false;           ///< of a bulk copy: it is a box of a tensor
    std::uint16_t prefetched = 0;  ///< bytes of the block that the last cache reads at a miss; 0: what is asked for
    Stage stage = Stage::first_cache;
    costs::AtomicClass atomic_class = costs::AtomicClass::integer;
    std::uint8_t bytes = 0;  ///< that each thread asks for
    std::uint8_t lanes = 0;  ///< threads that take part
    float stage_cycles = 0;  ///< for which its lines or words occupy the stage
    float spread = 0;        ///< cycles from its first word to its last one, at least
    float bank_cycles = 0;   ///< for which it occupies the storage with an access to shared memory
    float bank_latency = 0;  ///< cycles to its data from shared memory
    float returning = 0;     ///< cycles for which its words occupy the way back to its warp; 0: they do not take it
    float conflict = 0;      ///< cycles from the return of its first word to that of its last one, for bank conflicts
};

inline constexpr std::uint32_t kNoAccess = std::numeric_limits<std::uint32_t>::max();

/// In place of an access: the guard held for no thread.
inline constexpr std::uint32_t kNotExecuted = kNoAccess - 1;

/// One executed instruction of a warp.
struct WarpEvent {
    std::uint32_t step = 0;
    std::uint32_t access = kNoAccess;  ///< into BlockTrace::accesses
};

/// What an instruction does with a phase of a barrier in shared memory.
struct PhaseUse {
    std::uint32_t event = 0;    ///< of its warp, in BlockTrace::warps
    std::uint32_t barrier = 0;  ///< numbered from 0 on, in the order of first use
    std::uint32_t phase = 0;  ///< that the arrival belongs to; of a check, the number of phases that have to have ended
    bool checks = false;      ///< waits until they have; otherwise it arrives
};

/// How threads of a warp arrive at a barrier of the block.
struct MeetingUse {
    std::uint32_t event = 0;     ///< of its warp, in BlockTrace::warps
    std::uint8_t barrier = 0;    ///< number
    bool waits = true;           ///< for the others
    std::uint16_t threads = 0;   ///< that arrive
    std::uint16_t expected = 0;  ///< threads; 0: all of the block
};

/// Most waves of blocks of an SM that are replayed. The second half of them tells how long further blocks take. Waves
/// differ, because SMs get out of step and parts of DRAM are refreshed now and then.
inline constexpr std::uint64_t kReplayedWaves = 12;

/// All that a block executed, warp by warp.
struct BlockTrace {
    std::uint64_t block = 0;
    std::vector<std::vector<WarpEvent>> warps;
    std::vector<std::vector<PhaseUse>> phases;      ///< by warp, in the order of its events
    std::vector<std::vector<MeetingUse>> meetings;  ///< likewise
    std::vector<WarpAccess> accesses;
    std::vector<TouchedLine> lines;
    /// By line: how many SMs of a GPC have a block that loads it while this one runs. Empty: not known.
    std::vector<std::uint8_t> sharers;

    /// Instructions of all warps.
    [[nodiscard]] std::size_t events() const {
        std::size_t all = 0;
        for (const auto& warp : warps) all += warp.size();
        return all;
    }
    [[nodiscard]] double sharers_of(std::size_t line) const {
        return sharers.size() == lines.size() ? std::max<double>(1, sharers[line]) : 1;
    }
};

/// Counts of one block.
struct BlockCounts {
    std::uint64_t block = 0;
    double instructions = 0;         ///< of warps
    double thread_instructions = 0;  ///< of threads whose guard holds
    double transactions = 0;         ///< lines of global memory, once an instruction
    double load_sectors = 0, store_sectors = 0, atomic_sectors = 0;
    double shared_accesses = 0;
    /// Time of accesses to shared memory, in that of one of a word a thread without bank conflicts.
    double bank_cycles = 0;
    double conflict_free_cycles = 0;  ///< that time, if no access had conflicts
};

/// How well the mean of a count over the sampled blocks is known.
struct MeanError {
    double error = 0;     ///< relative standard error
    std::string_view of;  ///< what was counted
};

/// Estimate of the memory that the whole grid touches, in bytes.
struct GridFootprint {
    double read = 0, written = 0;
    double fetched = 0;  ///< what is read, in whole sectors of the last cache, which may be larger
    bool exact = false;  ///< all blocks were executed
};

/// A sector of global memory and the atomics that all blocks of the grid request from it.
struct AtomicSector {
    std::uint64_t sector = 0;  ///< address / kTouchedSectorBytes
    double requests = 0;       ///< passes of warps
};

struct LaunchProfile {
    std::string kernel;
    std::uint64_t blocks = 0;  ///< of the grid
    std::uint64_t threads_of_block = 0;
    int registers = 0;                  ///< of a thread
    std::uint64_t shared_of_block = 0;  ///< bytes that a block takes of its SM
    std::uint32_t resident_blocks = 0;  ///< blocks that an SM holds at once
    costs::BlockLimits room;            ///< what blocks and warps take of an SM
    std::string residency_limit;        ///< what limits them
    std::vector<ProfiledUnit> units;
    double partial_store = 1;  ///< time of a sector written in part at the L2, relative to that of a whole one
    /// Time of memory for a written byte, relative to that of a stream. It is more than 1 where blocks write parts of
    /// lines that no other block completes.
    double scattered_writes = 1;
    bool completed_writes = false;  ///< other blocks write the rest of lines that a block writes in part
    bool completed_reads = false;   ///< other blocks read the rest of lines that a block reads in part
    std::vector<ProfiledStep> steps;
    /// Warp instructions by step, mean of a block, and the executed threads among them.
    std::vector<double> executed, threads;
    std::vector<double> further_values;  ///< that MATCH.ANY found beyond the first one, by step, mean of a block
    std::vector<BlockCounts> sampled;    ///< each executed block once
    /// Blocks of whole SMs, in the order in which each SM starts them. Each list is one SM.
    std::vector<std::vector<BlockTrace>> sms;
    /// How many blocks each of these SMs runs in all; empty where block i runs on SM i modulo the number of SMs.
    std::vector<double> blocks_of_sms;
    /// Blocks that end at once. They are not among those of `sms` and `blocks_of_sms`.
    std::uint64_t empty_blocks = 0;
    /// The longest sampled block, where it executes far more than those of `sms`; otherwise empty.
    std::vector<BlockTrace> longest;
    GridFootprint footprint;
    double constant_bytes = 0;                 ///< that the sampled blocks read with an index, in lines of 64 bytes
    std::vector<AtomicSector> atomic_sectors;  ///< those that sampled blocks touched
    double scattered_atomics = 0;              ///< requests from all other sectors
    /// Share of the compare-and-swap requests that ask for an address that other warps swap as well.
    double met_swaps = 0;
    /// The most compare-and-swap requests of the launch for one address of global memory that several warps swap.
    double most_swaps = 0;
    bool stable = true;  ///< whether the means of further blocks changed by less than the wanted error
    MeanError error;     ///< of what is known least of a block
    /// Share of the sectors loaded by sampled blocks that other blocks probably write.
    double exchanged = 0;
    std::vector<std::string> assumptions, warnings;

    [[nodiscard]] std::uint64_t warps_of_block() const { return (threads_of_block + 31) / 32; }
};

}  // namespace gputomo::launch
