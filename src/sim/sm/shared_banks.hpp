// Bank conflicts of one shared-memory access of a warp.
#pragma once

#include "machine/machine.hpp"

#include <array>
#include <cstdint>

namespace gputomo::sim {

class SharedBanks {
public:
    /// Throws InputError naming the missing field of `shared`.
    explicit SharedBanks(const machine::SharedMemory& shared);

    struct Access {
        double latency = 0;    ///< cycles to the data of the last thread
        double occupancy = 0;  ///< cycles the banks are busy
        double conflict = 0;   ///< share of the latency that conflicts cost
        std::uint32_t ways = 1;  ///< accesses to the worst bank
    };
    /// `addresses` of the lanes in `mask`, `bytes` each. Threads of a group that touch different words of one bank are
    /// served one after the other; a word that several want is broadcast (Volkov 2016, 2.6).
    [[nodiscard]] Access access(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes) const;

private:
    std::uint32_t banks_ = 0;
    std::uint32_t width_ = 0;
    std::uint32_t group_ = 0;
    double latency_ = 0;
    double conflict_cost_ = 0;
    double group_cycles_ = 0;  ///< the banks are busy with one conflict-free group
};

}  // namespace gputomo::sim
