// The memory system as an SM sees it: when the data of a transaction are back.
//
// A transaction passes through its whole path when it is issued, and its completion time is known at once.
//
// Translation. Each TLB level of the path is looked up by virtual address until one hits. Every level that misses adds
// its penalty and is filled at once. Translation comes before the caches, or only after a miss in the first cache
// (tlb_position).
//
// Caches. A cache that only a part of the GPU uses is looked up by virtual address, a cache of the whole GPU by
// physical address. A hit takes that cache's latency, and an access that DRAM serves takes memory_latency. These
// latencies are not added up along the path. They are exact when nothing else is in flight, and penalties and waiting
// times are added to them. Where a latency has a range, it differs between TPCs.
//
// Misses. A miss fills the missing sectors of every level on its way. Tags change at once; a later hit on data that are
// still in flight waits for them, also on an entry of a TLB. Caches may request lines behind one that missed together
// with it (fetched_ahead). Hits and misses therefore depend only on the order of accesses, never on time.
//
// Waiting has four causes. An MSHR file or pending request table has no free entry, or an MSHR merges no more requests.
// A cache port is busy (bytes_per_cycle). The SM's port into the interconnect is busy; it has one rate for each
// direction. A DRAM channel or bank is busy.
//
// Stores pass through the near caches into the cache of the whole GPU or into DRAM. A write-back cache hides them from
// DRAM until it evicts the line. A store is done when the SM's port has taken it and the queues behind the port have
// space. It takes no MSHR entry and fetches nothing.
//
// Atomics are performed by units of the cache of the whole GPU. Each unit serves a part of the addresses, one request
// after the other (costs/atomic_units.hpp). Where the description knows no units, they are performed at that cache or
// at DRAM, one after the other where the address is the same.
#pragma once

#include "costs/arrival.hpp"
#include "costs/atomic_units.hpp"
#include "costs/partial_stores.hpp"
#include "machine/machine.hpp"
#include "sim/memory/counters.hpp"
#include "sim/memory/noise.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace gputomo::sim {

/// Simulation time in SM cycles; doubles carry fractions of cycles of the memory clock.
using Time = double;

/// Local memory takes the global path where the description has no path of its own for it.
enum class PathKind : std::uint8_t { global, texture, constant, instruction, local };
inline constexpr std::array<std::string_view, 5> kPathNames{"global", "texture", "constant", "instruction", "local"};
enum class AccessKind : std::uint8_t { load, store, atomic };
/// The first cache that a load may hit: the path's first one (.ca), the L2 (.cg, .cv, .volatile), or none.
enum class CacheHint : std::uint8_t { all, l2_only, none };

/// One coalesced transaction of a warp (or half-warp).
struct Transaction {
    std::uint64_t address = 0;  ///< virtual, first byte
    std::uint32_t bytes = 0;    ///< at least 1; may span lines
    std::uint32_t sm = 0;
    PathKind path = PathKind::global;
    AccessKind kind = AccessKind::load;
    CacheHint hint = CacheHint::all;
    std::uint32_t scheduler = 0;  ///< of the SM; selects the instance of a cache or TLB whose scope is "scheduler"
    /// Number of the warp instruction that the transaction belongs to, from 1. Transactions of one warp instruction
    /// share one entry of a pending request table. 0: the transaction counts as a warp instruction of its own.
    std::uint64_t request = 0;
    /// Bytes of the aligned block that the last cache reads from memory at a miss. 0: no more than what is asked for.
    std::uint32_t prefetched = 0;
    std::uint32_t touched = 0;  ///< bytes that a store or an atomic writes, in whole pieces of 32 bytes; 0: all
    bool partial = false;       ///< a store that writes only a part of these
    /// What a store writes of the 128 bytes that `address` lies in.
    costs::LineBytes written = costs::LineBytes::all();
    std::uint32_t asked = 0;                   ///< bytes that the threads of an atomic ask for; 0: all
    bool lone = false;                         ///< an atomic of one thread
    std::uint64_t pieces = ~std::uint64_t{0};  ///< of 32 bytes from `address` on that an atomic touches, as bits
    costs::AtomicClass atomic_class = costs::AtomicClass::integer;
};

/// Virtual to physical mapping, set up by the device (plain allocations and aliased windows).
class AddressSpace {
public:
    virtual ~AddressSpace() = default;
    /// Physical address, or throws DeviceError("illegal address") for an unmapped one.
    [[nodiscard]] virtual std::uint64_t translate(std::uint64_t virtual_address) const = 0;
};

class MemorySystem {
public:
    virtual ~MemorySystem() = default;
    /// Cycle at which the data are back in the SM (load, atomic) or the store has left the SM's queues.
    /// From call to call, `now` decreases at most by as much as one SM reorders its transactions.
    virtual Time access(const Transaction& transaction, Time now) = 0;
    /// Where an atomic goes: the unit that performs it, and the one of the unit's queues in which it waits.
    struct AtomicPlace {
        std::size_t unit = 0, queue = 0;
    };
    /// Units that perform atomics; 0 where the description knows none.
    [[nodiscard]] virtual std::size_t atomic_units() const = 0;
    /// Queues of each of them, which it serves in turn.
    [[nodiscard]] virtual std::size_t atomic_queues() const = 0;
    /// The two halves of access() for an atomic: when it has left the SM, and what happens when its turn comes.
    [[nodiscard]] virtual AtomicPlace place_of(const Transaction& atomic) const = 0;
    virtual Time send(const Transaction& atomic, Time now) = 0;
    /// What a unit has done with a request.
    struct Served {
        Time done = 0;  ///< the result is back in the SM
        Time free = 0;  ///< the unit can serve the next one
    };
    virtual Served serve(const Transaction& atomic, Time now) = 0;
    /// The first caches of the path that only a part of the GPU uses forget what they hold for this scheduler.
    virtual void forget_near(PathKind path, std::uint32_t sm, std::uint32_t scheduler) = 0;
    /// Whether the first cache of the path, of those that only a part of the GPU uses, holds the sector of this virtual
    /// address.
    [[nodiscard]] virtual bool holds_near(PathKind path, std::uint32_t sm, std::uint32_t scheduler,
                                          std::uint64_t address) const = 0;
    /// When `bytes` that an SM asks for at `now` pass the port of the path's last cache before the interconnect; `now`
    /// where there is none. Nothing else of the access is simulated.
    virtual Time pass_near(PathKind path, std::uint32_t sm, double bytes, Time now) = 0;
    /// Whether DRAM served a part of the last access.
    [[nodiscard]] virtual bool reached_dram() const = 0;
    /// Forgets queue state (not cache contents) at the start of a launch; time restarts at 0.
    virtual void begin_launch() = 0;
    /// Puts these bytes into the path's last cache before the interconnect, in all of its instances, as a launch does
    /// before its first block.
    virtual void preload(PathKind path, std::uint64_t address, std::uint64_t bytes, const costs::Arrival& arrival) = 0;
    /// Brings the pages of these bytes to the TLBs that outlast launches, as earlier kernels do that used them.
    virtual void know_pages(std::uint64_t address, std::uint64_t bytes) = 0;
    /// Empties the caches that hold data and belong to a part of the GPU. Those that hold instructions too keep them.
    virtual void forget_sm_data() = 0;
    /// The blocks of the launch take `shared_bytes` of each SM's shared memory, which may share storage with a cache.
    virtual void set_aside(std::uint64_t shared_bytes) = 0;
    /// Lines of the caches of the whole GPU that hold data.
    [[nodiscard]] virtual std::uint64_t filled_lines() const = 0;
    /// Fills up to `lines` empty lines of these caches with data that nothing asks for, as blocks would do that are not
    /// simulated. They are dirty as often as those that hold data already, so that their eviction writes to DRAM.
    virtual void fill_with_strangers(std::uint64_t lines) = 0;
    /// Adds hits, misses and bytes since the last call to `counters`. A lookup that finds only some of its sectors is a
    /// miss. Caches count under their key, TLBs under "tlbs." and their key, because a cache and a TLB may have the
    /// same key.
    virtual void drain_counters(MemoryCounters& counters) = 0;
};

struct MemoryOptions {
    std::uint64_t seed = 1;  ///< of random replacement policies and of the noise
    Noise noise;
};

/// Builds the model; `addresses` must outlive it.
/// Throws InputError naming the leaf when the description lacks what simulation needs or asks for what the model lacks.
[[nodiscard]] std::unique_ptr<MemorySystem> make_memory_system(const machine::Machine& machine,
                                                               const AddressSpace& addresses,
                                                               const MemoryOptions& options);

}  // namespace gputomo::sim
