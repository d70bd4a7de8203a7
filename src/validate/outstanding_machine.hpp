// Random machines whose SMs track outstanding loads in a table (Lashgar 2015), and the comparison of a scan with them.
#pragma once

#include "machine/machine.hpp"
#include "validate/compare.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::validate {

/// A random machine with an MSHR file or a pending request table, in an L1 or on a path without one. The table has 16
/// to 512 entries that merge 1 to 32 requests, and a warp can have 2 to 63 loads outstanding. Neither limit is larger
/// than what the warps of the machine can fill, since a GPU would gain nothing from more.
[[nodiscard]] machine::Machine random_outstanding_machine(std::uint64_t seed);

/// Compares the design, the entries, the merged requests and the loads of a warp. Entries within 5% count as exact.
[[nodiscard]] std::vector<Comparison> compare_outstanding(const machine::Machine& truth,
                                                          const machine::Machine& scanned);

}  // namespace gputomo::validate
