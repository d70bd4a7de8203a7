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

/// The same for a launch whose DRAM reads and writes as many bytes. The further time is that of changes between both:
/// where one follows the other by chance, there are as many as the product of both shares says. `cost` is that of a
/// copy, whose shares are equal.
[[nodiscard]] inline double write_cost_beside(double cost, double read, double written) {
    return read + written > 0 ? 1 + 2 * (cost - 1) * read / (read + written) : cost;
}

}  // namespace gputomo::costs
