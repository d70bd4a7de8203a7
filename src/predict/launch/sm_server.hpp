// A unit, a port or a share of memory that serves one request of an SM after the other.
#pragma once

#include <algorithm>

namespace gputomo::predict {

struct Server {
    double free = 0, busy = 0;
    /// When a request that arrives at `now` and takes `cycles` begins to be served.
    double take(double now, double cycles) {
        const double start = std::max(now, free);
        free = start + cycles;
        busy += cycles;
        return start;
    }
};

}  // namespace gputomo::predict
