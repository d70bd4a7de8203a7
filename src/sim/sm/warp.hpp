// State of resident warps and blocks.
#pragma once

#include "sim/exec/program.hpp"
#include "sim/sm/barriers.hpp"
#include "sim/sm/fetch.hpp"
#include "sim/sm/operands.hpp"
#include "sim/sm/warp_paths.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

struct Block {
    std::uint64_t index = 0;  ///< in the grid
    std::array<std::uint32_t, 3> coordinates{};
    std::uint32_t sm = 0;
    std::vector<std::byte> shared;
    std::vector<std::uint32_t> warps;  ///< indices of live warps
    BlockBarriers barriers{};
};

struct Warp {
    explicit Warp(Divergence divergence, bool taken_first) : paths(divergence, taken_first) {}

    WarpPaths paths;
    std::uint32_t block = 0;      ///< index of its resident block
    std::uint32_t in_block = 0;   ///< warp number within its block
    std::uint32_t slot = 0;       ///< of its SM; slots of one scheduler's warps are a multiple of the schedulers apart
    std::uint32_t scheduler = 0;  ///< index over all SMs
    std::size_t position = 0;     ///< in its scheduler's lists
    std::vector<LaneValues> registers;
    std::vector<std::byte> local;  ///< frames of the 32 threads, one after the other
    Scoreboard scoreboard;
    InstructionBuffer buffer;
    double hold = 0;         ///< earliest next issue after a clock read, a branch, a barrier or a fetch
    double gap = 0;          ///< earliest next issue, except of an instruction that is paired with the one before
    double earliest = 0;     ///< of the next instruction, as hold, operands and loads in flight allow; kNever: it waits
    std::uint32_t step = 0;  ///< machine instructions issued so far of an operation that takes several
    bool in_use = false;
};

}  // namespace gputomo::sim
