// The stages of an SM that take the transactions of loads and stores one after the other, whichever warps they are of.
#pragma once

#include "machine/machine.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/sm/load_store/coalescer.hpp"
#include "sim/sm/load_store/shared_banks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

struct LoadPort {
    double access = 0;        ///< fewest cycles between two loads
    double transaction = 0;   ///< cycles of a transaction; 0: transactions do not wait for those of other warps
    double sector = 1;        ///< cycles of a sector that a store writes
    double partial = 1;       ///< further cycles of a line that a store writes in part
    double wide = 2;          ///< time of a fetch of 16 bytes relative to one of 4
    double plane = 2;         ///< time of a fetch of more than one dimension relative to one of one
    double spacing = 0;       ///< cycles by which each further transaction of a load comes back later, at least
    bool of_storage = false;  ///< the stage is that of shared memory (shared.unified_cache)
};

using LoadPorts = std::array<LoadPort, kPathNames.size()>;  ///< by PathKind

/// Throws InputError for intervals that are not positive.
[[nodiscard]] LoadPorts load_ports_of(const machine::Machine& machine);

/// What a port has to know of an access of a warp.
struct PortAccess {
    AccessKind kind = AccessKind::load;
    std::uint32_t bytes = 4;  ///< of each thread
    double fetches = 1;       ///< of a texture: one-dimensional fetches of 4 bytes that would take as long
    const std::array<std::uint64_t, 32>& addresses;  ///< by lane
    std::uint32_t mask = 0;                          ///< lanes that take part
};

/// How long an access keeps what it passes busy, in cycles.
struct PortTime {
    double stage = 0;      ///< of the port
    double returning = 0;  ///< of the way back to its warp; 0 where nothing comes back from the SM's storage
    double spread = 0;     ///< from the return of its first word to that of its last one, where all are there
};
[[nodiscard]] PortTime port_time(const LoadPort& port, const SharedBanks& banks, const PortAccess& access,
                                 const std::vector<Segment>& segments);

/// Cycles for which the transactions of a load occupy the port. Bank conflicts are not among them.
[[nodiscard]] double read_cycles(const LoadPort& port, double fetches, std::size_t transactions);

/// As how many one-dimensional fetches of 4 bytes a fetch occupies the texture unit.
[[nodiscard]] double fetches_of(const LoadPort& port, unsigned dimensions, std::uint32_t texel_bytes);

/// Merge the lanes' addresses into transactions. They keep no state between two instructions.
struct Coalescers {
    explicit Coalescers(const machine::Machine& machine);
    Coalescer global, global_far;
    Coalescer local, local_far;
    Coalescer texture;
    Coalescer constant;
};

}  // namespace gputomo::sim
