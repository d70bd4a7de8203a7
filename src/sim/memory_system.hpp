// When a memory access completes: caches, TLBs, outstanding-miss tables, interconnect, DRAM.
// A transaction is walked through its path at the cycle it is issued; each stage is a resource with its own next-free
// time, so queueing, not a formula, makes latency grow with load.
#pragma once

#include "machine/machine.hpp"
#include "sim/simulator.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace gputomo::sim {

/// Simulation time in SM cycles; doubles carry fractions of cycles of the memory clock.
using Time = double;

enum class PathKind : std::uint8_t { global, texture, constant, instruction };
enum class AccessKind : std::uint8_t { load, store, atomic };
/// .ca, .cg, .cv / volatile and friends: the first cache a load may hit.
enum class CacheHint : std::uint8_t { all, l2_only, none };

/// One coalesced transaction of a warp (or half-warp).
struct Transaction {
    std::uint64_t address = 0;   ///< virtual, first byte
    std::uint32_t bytes = 0;     ///< within one line of the first cache
    std::uint32_t sm = 0;
    PathKind path = PathKind::global;
    AccessKind kind = AccessKind::load;
    CacheHint hint = CacheHint::all;
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
    /// Adds hits, misses and bytes since the last call to `counters`.
    virtual void drain_counters(Counters& counters) = 0;
};

[[nodiscard]] std::unique_ptr<MemorySystem> make_memory_system(const machine::Machine& machine,
                                                               const AddressSpace& addresses, const Options& options);

}  // namespace gputomo::sim
