// Random machines whose SMs track outstanding loads in a table, and how well a blind measurement recovers it (Lashgar
// 2015).
#pragma once

#include "machine/machine.hpp"
#include "validate/compare.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::validate {

/// A random machine with a table of either design, of 16 to 512 entries and 1 to 32 mergers, in a cache of its SMs or
/// in none, and 2 to 63 loads of a warp under way. Tables and limits are no larger than what the machine's warps can
/// fill: nobody builds them larger.
[[nodiscard]] machine::Machine random_outstanding_machine(std::uint64_t seed);

/// Design, entries, mergers and loads of a warp. Entries within 5% count as exact.
[[nodiscard]] std::vector<Comparison> compare_outstanding(const machine::Machine& truth,
                                                          const machine::Machine& scanned);

}  // namespace gputomo::validate
