// State of resident warps, blocks, schedulers and SMs.
#pragma once

#include "sim/exec/program.hpp"
#include "sim/sm/costs.hpp"
#include "sim/sm/paths_of_warp.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

struct Barrier {
    std::uint32_t arrived = 0;   ///< warps or threads
    std::uint32_t expected = 0;  ///< 0: all of the block that live
    double last_arrival = 0;
    std::uint32_t votes = 0;  ///< threads whose predicate held, of bar.red
    std::uint32_t voters = 0;
};

struct Block {
    std::uint64_t index = 0;
    std::array<std::uint32_t, 3> coordinates{};
    std::uint32_t sm = 0;
    std::vector<std::byte> shared;
    std::vector<std::uint32_t> warps;  ///< indices of live warps
    std::array<Barrier, 16> barriers{};
};

struct Warp {
    explicit Warp(Divergence divergence, bool taken_first) : paths(divergence, taken_first) {}

    WarpPaths paths;
    std::uint32_t block = 0;
    std::uint32_t in_block = 0;   ///< warp number within its block
    std::uint32_t slot = 0;       ///< of its SM; warps of one scheduler have slots as far apart as there are schedulers
    std::uint32_t scheduler = 0;  ///< global index
    std::size_t position = 0;     ///< in its scheduler's lists
    std::vector<LaneValues> registers;
    std::vector<std::byte> local;  ///< frames of the 32 threads, one after the other
    std::vector<double> ready;     ///< per slot: when its value can be used
    std::vector<double>
        ready_for_cores;  ///< the same for instructions of the CUDA cores, which may have it at another time
    double hold =
        0;  ///< earliest next issue because of what the last instructions were (clock read, branch, barrier, fetch)
    double gap = 0;  ///< earliest next issue of this warp, but for a second instruction issued together with the first
    double earliest = 0;     ///< of the next instruction: hold, operands, scoreboard; gap and units left out
    double memory_done = 0;  ///< completion of all accesses so far, for fences
    std::uint32_t step = 0;  ///< of an operation of several steps
    std::uint64_t fetched = ~std::uint64_t{0};  ///< instruction block it holds
    std::vector<double> loads;                  ///< completion of outstanding loads, where the scoreboard limits them
    bool in_use = false;
};

/// A warp scheduler, its warps and the units it feeds. `warps`, `times` and `needs` run in parallel: the choice of a
/// warp reads nothing else.
struct Scheduler {
    std::uint32_t sm = 0;
    std::uint32_t number = 0;  ///< within the SM
    std::vector<std::uint32_t> warps;
    std::vector<std::uint64_t> turns;  ///< number of each warp's last issue, or of its start
    double last_issue = 0;
    std::vector<double> times;         ///< earliest issue of each warp's next instruction, but for what it needs free
    std::vector<std::uint16_t> needs;  ///< what that instruction must find free: an index into `available`
    std::vector<double> available;     ///< when each of Engine's resources is free, as of the last look
    std::vector<double> unit_free;     ///< of its own units
    double free = 0;
    std::uint64_t turn = 0;  ///< issues and starts so far
    double event = 0;
};

struct Sm {
    std::uint32_t resident = 0;  ///< blocks
    double next_start = 0;       ///< when another block can start
    double shared_free = 0;
    std::vector<double> unit_free;  ///< of the units that all schedulers feed
    std::uint32_t next_scheduler = 0;
};

}  // namespace gputomo::sim
