// What writing to DRAM costs beside reading from it.
#pragma once

#include "machine/machine.hpp"

#include <algorithm>

namespace gputomo::costs {

/// Time of DRAM for a written byte relative to a read one. A copy reads as many bytes as it writes, so its bandwidth
/// and that of reads give the ratio; 1 where either is open.
[[nodiscard]] inline double write_cost(const machine::Memory& memory) {
    if (!memory.copy_bandwidth || !memory.read_bandwidth) return 1;
    return std::max(1.0, 2 * *memory.read_bandwidth / *memory.copy_bandwidth - 1);
}

/// write_cost() for a launch that reads `read` bytes from DRAM and writes `written` bytes. The further time is that of
/// changes between reads and writes. Where both come in random order, the number of changes is in proportion to the
/// product of their shares. `cost` is that of a copy, whose shares are equal.
[[nodiscard]] inline double write_cost_beside(double cost, double read, double written) {
    return read + written > 0 ? 1 + 2 * (cost - 1) * read / (read + written) : cost;
}

}  // namespace gputomo::costs
