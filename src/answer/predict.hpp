// Predicts what a launch costs, from sampled blocks of it.
#pragma once

#include "answer/answer.hpp"
#include "answer/gpu.hpp"
#include "launch/launch.hpp"
#include "launch/profile/profile.hpp"

#include <cstdint>

namespace gputomo::answer {

/// Whether changes are tried that might make the launch faster. Trying them takes several times as long as predicting.
enum class Advising : std::uint8_t { none, tried };

/// Executes sampled blocks with the memory of the launch, then gives them a time on the described GPU. A launch whose
/// blocks or warps wait for each other is simulated instead: the answer's method and a warning say so.
///
/// Throws InputError that names what the launch or the description lacks, Error where the kernel fails, and
/// TimeLimitError where not even one block ends in time.
[[nodiscard]] Answer predict(const launch::Launch& launch, const Gpu& gpu, const launch::Sampling& sampling,
                             const CachesAtStart& caches = {}, Advising advising = Advising::none);

}  // namespace gputomo::answer
