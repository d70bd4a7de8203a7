// Candidate replacement policies on one set, simulated to see which explains a trace.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::deduce {

/// Names of the deterministic policies that can be told apart by simulation.
[[nodiscard]] std::span<const std::string_view> candidate_policies();

/// Hits (true) and misses that a policy predicts for a walk over the lines of one set, each from what was observed before: the state
/// that the set was in when the walk began is not known, and a model that follows the observations comes to the same one.
/// `lines` are any distinct numbers.
[[nodiscard]] std::vector<bool> predicted_hits(std::string_view policy, std::uint32_t ways, std::span<const std::uint32_t> lines,
                                               const std::vector<bool>& observed_hits);

}  // namespace gputomo::deduce
