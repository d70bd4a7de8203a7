// Candidate replacement policies on one set, simulated to see which explains a trace.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::deduce {

/// Names of the deterministic policies that can be told apart by simulation.
[[nodiscard]] std::span<const std::string_view> candidate_policies();

/// Hits (true) and misses of a walk over the lines of one set that starts empty; `lines` are any distinct numbers.
[[nodiscard]] std::vector<bool> predicted_hits(std::string_view policy, std::uint32_t ways, const std::vector<std::uint32_t>& lines);

}  // namespace gputomo::deduce
