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
        double latency = 0;      ///< cycles to the data of the last thread
        double occupancy = 0;    ///< cycles the banks are busy
        double conflict = 0;     ///< cycles of the latency that conflicts cost
        double returning = 0;    ///< cycles for which its words occupy the way back to the warp
        std::uint32_t ways = 1;  ///< accesses to the worst bank
    };
    struct Request {
        std::uint32_t bytes = 4;   ///< of each thread
        bool broadcasts = true;    ///< a word that several threads want is served once; false for atomics
        bool loads = false;        ///< its threads may read in pairs (shared.paired_reads)
        bool swaps = false;        ///< its threads compare and swap
        bool one_of_bank = false;  ///< of the threads that want a word of one bank, one alone is served
    };
    /// One access by the lanes in `mask`. Threads of a group that touch different words of one bank are served one
    /// after the other (Volkov 2016, 2.6).
    [[nodiscard]] Access access(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask,
                                Request request) const;

private:
    /// Whether each two threads in `mask` whose numbers differ by the bit `apart` have the same address.
    [[nodiscard]] static bool are_pairs(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask,
                                        std::size_t apart);
    /// Accesses to the worst bank by the lanes in `mask`.
    [[nodiscard]] std::uint32_t ways_of(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask,
                                        Request request) const;

    std::uint32_t banks_ = 0;
    bool paired_reads_ = false;
    double swap_accesses_ = 1;
    std::uint64_t row_ = 0;  ///< words from one row of a bank to the next
    std::uint32_t width_shift_ = 0;
    std::uint64_t bank_mask_ = 0;  ///< 0 where the numbers of banks and of a row's words are no powers of two
    std::uint32_t row_shift_ = 0;
    std::uint32_t group_ = 0;
    double latency_ = 0;
    double conflict_cost_ = 0;
    double group_cycles_ = 0;  ///< cycles for which one conflict-free group keeps the banks busy
    double group_delay_ = 0;   ///< cycles from the data of one group to those of the next
};

}  // namespace gputomo::sim
