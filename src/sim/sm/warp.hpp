// State of resident warps and blocks.
#pragma once

#include "sim/exec/program.hpp"
#include "sim/sm/paths_of_warp.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

struct Barrier {
    std::uint32_t arrived = 0;       ///< warps or threads
    std::uint32_t expected = 0;      ///< 0: all of the block that live
    double last_arrival = 0;
};

struct Block {
    std::uint64_t index = 0;
    std::array<std::uint32_t, 3> coordinates{};
    std::uint32_t sm = 0;
    std::vector<std::byte> shared;
    std::vector<std::uint32_t> warps;  ///< indices of live warps
    std::array<Barrier, 16> barriers{};
    bool in_use = false;
};

struct Warp {
    explicit Warp(Divergence divergence, bool taken_first) : paths(divergence, taken_first) {}

    WarpPaths paths;
    std::uint32_t block = 0;
    std::uint32_t in_block = 0;   ///< warp number within its block
    std::uint32_t scheduler = 0;  ///< global index
    std::vector<LaneValues> registers;
    std::vector<double> ready;    ///< per slot: when its value can be used
    double can_issue = 0;         ///< earliest issue of the next instruction, units left out
    double next_issue = 0;        ///< earliest issue whatever the operands
    std::uint32_t step = 0;       ///< of a multi-step operation
    std::uint64_t fetched = ~std::uint64_t{0};  ///< instruction line it holds
    std::vector<double> loads;    ///< completion of outstanding loads, where the scoreboard limits them
    int barrier = -1;             ///< that the current path waits at
    bool in_use = false;
};

/// A warp scheduler and the units it feeds.
struct Scheduler {
    std::uint32_t sm = 0;
    std::vector<std::uint32_t> warps;
    std::vector<double> unit_free;
    double free = 0;
    std::size_t last = 0;      ///< position in `warps` of the last issue
    std::uint32_t width_used = 0;
    double event = 0;
};

struct Sm {
    std::uint32_t resident = 0;   ///< blocks
    double shared_free = 0;
    std::uint32_t next_scheduler = 0;
};

}  // namespace gputomo::sim
