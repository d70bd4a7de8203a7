// The allocations that a launch may touch.
#pragma once

#include <cstdint>

namespace gputomo::profile {

struct Buffer {
    std::uint64_t address = 0, bytes = 0;
};

}  // namespace gputomo::profile
