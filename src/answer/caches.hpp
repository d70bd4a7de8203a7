// What the caches hold when a launch begins.
#pragma once

#include "launch/launch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gputomo::answer {

/// The L2 is empty (cold), or full of other data that were written and have to go to DRAM (dirty). Benchmarks that
/// clear memory before each run leave it dirty. Otherwise the L2 holds what a run of the same launch or of an earlier
/// one left. The caches of SMs hold no data: a GPU empties them when a launch begins.
struct Caches {
    enum class State : std::uint8_t { cold, dirty, warm, after };
    State state = State::cold;
    std::size_t launch = 0;  ///< its number in the capture, for `after`
};

/// "cold", "dirty", "warm" or "after:3"
[[nodiscard]] std::string name_of(const Caches& caches);

/// The state that is asked for, and for `after` the launch that ran before.
struct CachesAtStart {
    Caches caches{};
    const launch::Launch* earlier = nullptr;
    /// predict() also finds the time with warm caches, and says it where it differs.
    bool also_warm = false;
};

}  // namespace gputomo::answer
