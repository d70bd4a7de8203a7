// The allocations that a launch may touch.
#pragma once

#include <cstdint>

namespace gputomo::launch {

struct MemoryRange {
    std::uint64_t address = 0, bytes = 0;
};

}  // namespace gputomo::launch
