// The unit of an SM that copies bulk data: when the bytes of a copy have arrived, and when its source has been read.
//
// A copy goes through the unit in pieces that lie in one line of the L2. The unit takes the pieces of all copies of
// its SM one after the other, and each then goes through the memory system as a load, a store or an atomic past the
// SM's own caches does.
#pragma once

#include "machine/machine.hpp"
#include "sim/machine_code/transfer.hpp"
#include "sim/memory/memory_system.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// The operations of a description whose times bulk copies have: a copy of 16 bytes and a box of 16 bytes, which the L2
/// serves, until a thread that waits for it goes on; a row of 16 bytes of a larger box; and a load from the shared
/// memory of another block.
inline constexpr const char* kBulkLoad = "cp.async.bulk";
inline constexpr const char* kTensorLoad = "cp.async.bulk.tensor";
inline constexpr const char* kTensorLine = "cp.async.bulk.tensor:row";
inline constexpr const char* kClusterLoad = "ld.shared::cluster.u32";

/// What the description says of bulk copies. Where it says nothing, a copy costs what a load of its lines costs.
struct BulkSpec {
    double start = 0;            ///< cycles from the issue of a copy to the departure of its first piece
    double tensor_start = 0;     ///< the same of a box of a tensor
    double finish = 0;           ///< cycles from the arrival of the last piece to that at the barrier
    double command = 0;          ///< cycles for which a copy occupies the unit, at least
    double tensor_command = 0;   ///< the same of a box
    double piece = 0;            ///< cycles for which a piece occupies the unit, at least
    double bytes_per_cycle = 0;  ///< of the unit; 0: any number
    double between = 0;          ///< cycles to the shared memory of another block, of a copy and of a signal
};
[[nodiscard]] BulkSpec bulk_spec_of(const machine::Machine& machine);

struct BulkTimes {
    double read = 0;  ///< the source has been read
    double done = 0;  ///< all bytes are where they go
};

/// Performs the copy in the memory system. `free` is when the SM's unit can take the next copy.
[[nodiscard]] BulkTimes transfer_bulk(const BulkSpec& spec, const machine_code::Transfer& transfer, std::uint32_t sm,
                                      double& free, MemorySystem& memory, double now);

}  // namespace gputomo::sim
