// The occupancies and arithmetic intensities at which mixes are sampled.
#pragma once

#include <vector>

namespace gputomo::measure {

/// Occupancies up to `most` warps that give every scheduler the same number of warps (Volkov 2016, ch. 7): all of them
/// below 8 warps a scheduler, 4 for each doubling above.
[[nodiscard]] std::vector<int> mix_occupancies(int schedulers, int most);
/// 1 to 512 in steps of the square root of 2 (Volkov 2016, 7.9), or of 4 if `quick`.
[[nodiscard]] std::vector<int> mix_alphas(bool quick);

}  // namespace gputomo::measure
