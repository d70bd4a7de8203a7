// What would make a launch faster, each change tried by the model that predicted it.
#pragma once

#include "answer/answer.hpp"
#include "launch/profile/launch_profile.hpp"
#include "machine/machine.hpp"
#include "predict/launch/l2_content.hpp"
#include "predict/launch/launch_prediction.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace gputomo::answer {

/// Advice of a smaller factor is not given. A model that is off by 10% can still tell a change of 5%, since both times
/// have the same error.
inline constexpr double kLeastFactor = 1.05;

/// Recorded warp instructions above which no changes are tried: a change copies all of them with their accesses. Copies
/// of several times this number take gigabytes.
inline constexpr std::size_t kMostAdvised = std::size_t{8} << 20;
[[nodiscard]] std::size_t recorded_instructions(const launch::LaunchProfile& profile);

/// Predicts the launch with each change that applies to it. `base` is its prediction without any. Changes that make it
/// faster by kLeastFactor are returned, best first.
[[nodiscard]] std::vector<Advice> advice_for(const launch::LaunchProfile& profile, const machine::Machine& machine,
                                             std::string_view origin, const predict::L2Content& content,
                                             const predict::LaunchPrediction& base);

}  // namespace gputomo::answer
