// State of resident warps and blocks that does not depend on the machine language.
#pragma once

#include "costs/returning_words.hpp"
#include "sim/sm/units/barriers.hpp"
#include "sim/sm/units/fetch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

struct Block {
    std::uint64_t index = 0;  ///< in the grid
    std::array<std::uint32_t, 3> coordinates{};
    std::uint32_t sm = 0;
    double started = 0;        ///< cycle
    std::uint64_t age = 0;     ///< what schedulers order blocks by
    std::uint64_t issued = 0;  ///< instructions of warps that have ended
    std::vector<std::byte> shared;
    std::vector<std::uint32_t> warps;  ///< indices of live warps
    BlockBarriers barriers{};
};

struct ResidentWarp {
    std::uint32_t block = 0;      ///< index of its resident block
    std::uint32_t in_block = 0;   ///< warp number within its block
    std::uint32_t slot = 0;       ///< of its SM; slots of one scheduler's warps are a multiple of the schedulers apart
    std::uint32_t scheduler = 0;  ///< index over all SMs
    std::size_t position = 0;     ///< in its scheduler's lists
    InstructionBuffer buffer;
    double hold = 0;      ///< earliest next issue after a clock read, a branch, a barrier or a fetch
    double gap = 0;       ///< earliest next issue, except of an instruction that is paired with the one before
    double earliest = 0;  ///< of the next instruction, as hold, operands and loads in flight allow; kNever: it waits
    costs::ReturningWords returning;  ///< of its loads
    std::uint64_t issued = 0;         ///< instructions
    bool in_use = false;
};

}  // namespace gputomo::sim
