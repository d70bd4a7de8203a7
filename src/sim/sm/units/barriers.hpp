// Block barriers: who has arrived, and when the waiting warps go on.
#pragma once

#include "machine/machine.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace gputomo::sim {

struct BarrierSpec {
    double latency = 0;           ///< cycles from the last arrival to the next issue of the warps
    bool counts_threads = false;  ///< threads arrive one by one; else a warp arrives as a whole
    double warp_latency = 0;      ///< cycles that bar.warp.sync takes
    bool defers = false;          ///< arithmetic behind a barrier issues before it is complete
};
[[nodiscard]] BarrierSpec barrier_spec_of(const machine::Issue& issue);

/// One of a block's barriers. Warps or threads are counted, as the spec says.
struct Barrier {
    std::uint32_t arrived = 0;
    std::uint32_t expected = 0;  ///< 0: all of the block that live
    double last_arrival = 0;
    std::uint32_t votes = 0;   ///< bar.red: threads whose predicate held
    std::uint32_t voters = 0;  ///< bar.red: threads that voted
    unsigned reduction = 0;    ///< BAR.RED: what the votes give (machine_code/flow.hpp)
};
/// PTX names 16 barriers for each block.
using BlockBarriers = std::array<Barrier, 16>;

/// The barrier is for `threads` threads. Returns what is wrong with that number; empty where nothing is.
[[nodiscard]] std::string expect_threads(const BarrierSpec& spec, Barrier& barrier, std::uint32_t threads);

/// `threads` threads of one warp arrive.
void arrive(const BarrierSpec& spec, Barrier& barrier, std::uint32_t threads, double now);

/// What the block has left to arrive at a barrier.
struct LiveCount {
    std::uint32_t warps = 0;
    std::uint32_t threads = 0;
};

/// A barrier that everybody has reached.
struct BarrierRelease {
    double when = 0;  ///< cycle from which the warps can issue
    std::uint32_t votes = 0;
    std::uint32_t voters = 0;
    unsigned reduction = 0;
};

/// Releases and resets the barrier where nothing that it waits for is missing.
[[nodiscard]] std::optional<BarrierRelease> release_if_complete(const BarrierSpec& spec, Barrier& barrier,
                                                                const LiveCount& live);

/// "barrier 5, 1 warps arrived of 3", for the report of a deadlock.
[[nodiscard]] std::string describe(const BarrierSpec& spec, const Barrier& barrier, int number);

}  // namespace gputomo::sim
