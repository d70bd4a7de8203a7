// The unit of an SM that copies bulk data: when the bytes of a copy have arrived, and when its source has been read.
//
// A copy goes through the unit in pieces that lie in one line of the L2. The unit takes the pieces of all copies of
// its SM one after the other. Each then goes through the memory system as an access past the SM's own caches does.
#pragma once

#include "costs/asynchronous_operations.hpp"
#include "sim/machine_code/transfer.hpp"
#include "sim/memory/memory_system.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gputomo::sim {

/// The tensor maps that an SM has fetched: when each is there, by address. All of a launch are taken to fit.
using TensorMaps = std::unordered_map<std::uint64_t, double>;

struct BulkCopyUnit {
    costs::BulkSpec spec;
    std::vector<double> free;      ///< by SM: when its unit can take the next copy
    std::vector<TensorMaps> maps;  ///< by SM
};

struct BulkTimes {
    double read = 0;  ///< the source has been read
    double done = 0;  ///< all bytes are where they go
};

/// Performs the copy in the memory system. `free` is when the SM's unit can take the next copy.
[[nodiscard]] BulkTimes transfer_bulk(const costs::BulkSpec& spec, const machine_code::Transfer& transfer,
                                      std::uint32_t sm, double& free, TensorMaps& maps, MemorySystem& memory,
                                      double now);

}  // namespace gputomo::sim
