// When a memory access completes: caches, TLBs, outstanding-miss tables, interconnect, DRAM.
// A transaction is walked through its whole path when it is issued, and its completion is known at once:
//  - Translation: each TLB level of the path is looked up by virtual address until one hits; every level missed adds
//  its penalty
//    and is filled at once. It comes before the caches, or only for what misses the first one (tlb_position).
//  - Caches of less than the whole GPU are found by virtual, those of the whole GPU by physical address. A hit in a
//  cache takes
//    that cache's latency, an access served by DRAM memory_latency: whole, not on top of the level before, exact when
//    nothing else is under way. Penalties and waiting come on top. Where a latency has a range, it differs by TPC.
//  - A miss fills the missing sectors of every level on its way. Tags change at once; data that are still on their way
//  make a
//    later hit wait for them. So hits and misses depend on the order of accesses only, never on time.
//  - Waiting has four causes: an MSHR or pending request table without a free entry (or an MSHR that merges no more), a
//  cache port
//    (bytes_per_cycle), the SM's port into the interconnect (one rate for each direction), a DRAM channel.
//  - Stores pass through near caches into the cache of the whole GPU (write-back: DRAM sees evictions) or DRAM. They
//  are done when
//    the SM's port has taken them and the queues after it have room. They hold no entry of a table and fetch nothing.
//  - Atomics are performed at the cache of the whole GPU or DRAM, one after the other where the address is the same.
#pragma once

#include "machine/machine.hpp"
#include "sim/simulator.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace gputomo::sim {

/// Simulation time in SM cycles; doubles carry fractions of cycles of the memory clock.
using Time = double;

/// Local memory takes the global path where it has none of its own.
enum class PathKind : std::uint8_t { global, texture, constant, instruction, local };
inline constexpr std::array<std::string_view, 5> kPathNames{"global", "texture", "constant", "instruction", "local"};
enum class AccessKind : std::uint8_t { load, store, atomic };
/// .ca, .cg, .cv / volatile and friends: the first cache a load may hit.
enum class CacheHint : std::uint8_t { all, l2_only, none };

/// One coalesced transaction of a warp (or half-warp).
struct Transaction {
    std::uint64_t address = 0;  ///< virtual, first byte
    std::uint32_t bytes = 0;    ///< at least 1; may span lines
    std::uint32_t sm = 0;
    PathKind path = PathKind::global;
    AccessKind kind = AccessKind::load;
    CacheHint hint = CacheHint::all;
    std::uint32_t scheduler = 0;  ///< of the SM; matters to caches and TLBs of scope "scheduler"
    /// Number of the warp instruction that the transaction belongs to, from 1; its transactions share one entry of a
    /// pending request table. 0: the transaction is an instruction of its own.
    std::uint64_t request = 0;
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
    /// `now` never decreases by more than the reordering within one SM's issue.
    virtual Time access(const Transaction& transaction, Time now) = 0;
    /// Forget queue state (not cache contents) at the start of a launch; time restarts at 0.
    virtual void begin_launch() = 0;
    /// The launch's blocks take so many bytes of each SM's shared memory, which a cache may share its storage with.
    virtual void set_aside(std::uint64_t shared_bytes) = 0;
    /// Adds hits, misses and bytes since the last call to `counters`. A lookup that finds only some of its sectors is a
    /// miss. Caches count under their key, TLBs under "tlbs." and their key, because the two may be named alike.
    virtual void drain_counters(Counters& counters) = 0;
};

/// Builds the model; `addresses` must outlive it. Uses options.seed (policies that throw dice) and options.noise.
/// Throws InputError naming the leaf when the description lacks what simulation needs or asks for what it cannot do.
[[nodiscard]] std::unique_ptr<MemorySystem> make_memory_system(const machine::Machine& machine,
                                                               const AddressSpace& addresses, const Options& options);

}  // namespace gputomo::sim
