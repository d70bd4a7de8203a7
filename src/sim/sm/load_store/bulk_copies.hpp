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

/// What the description says of bulk copies. Where it says nothing, a copy costs what a load of its lines costs.
struct BulkSpec {
    double start = 0;            ///< cycles from the issue of a copy to the departure of its first piece
    double tensor_start = 0;     ///< the same of a box of a tensor
    double store_start = 0;      ///< the same of a copy to global memory
    double command = 0;          ///< cycles for which a copy occupies the unit, at least
    double tensor_command = 0;   ///< the same of a box
    double piece = 0;            ///< cycles for which a piece occupies the unit, at least
    double bytes_per_cycle = 0;  ///< of the unit into shared memory; 0: any number
    double store_bytes_per_cycle = 0;  ///< of the unit out of shared memory; 0: any number
    double between = 0;                ///< cycles to the shared memory of another block
    double arrival = 0;                ///< cycles from an arrival at a barrier until a check can see it
    double check = 0;                  ///< cycles of a check of a barrier
    double cluster_barrier = 0;        ///< cycles from the last arrival of a cluster until its warps go on
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
