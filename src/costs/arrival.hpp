// When the bytes arrive that a launch brings near the SMs before its first block asks for them.
#pragma once

#include "machine/chip.hpp"

#include <algorithm>
#include <cstdint>

namespace gputomo::costs {

struct Arrival {
    double ready = 0;  ///< bytes that are there when the first block starts
    double rate = 0;   ///< bytes a cycle at which the others follow, in order; 0: all are there

    /// When the byte `offset` bytes behind the first one is there, in cycles from the start of the first block.
    [[nodiscard]] double of(std::uint64_t offset) const {
        return rate > 0 ? std::max(0.0, (static_cast<double>(offset) - ready) / rate) : 0;
    }
};

/// When the code arrives that a launch brings.
[[nodiscard]] inline Arrival code_arrival_of(const machine::LaunchCost& launch) {
    return {.ready = static_cast<double>(launch.code_prefetch_ready.value_or(0)),
            .rate = launch.code_prefetch_rate.value_or(0)};
}

}  // namespace gputomo::costs
