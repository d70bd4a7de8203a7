#include "measure/mix/mix_sweeps.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::measure {

std::vector<int> mix_occupancies(int schedulers, int most) {
    // Samples for each doubling of the occupancy (Volkov 2016, ch. 7).
    constexpr int kPerDoubling = 4;
    std::vector<int> found;
    for (int step = 1; step * schedulers <= most; ++step) {
        int doubling = 1;
        while (2 * doubling <= step) doubling *= 2;
        if (step % std::max(1, doubling / kPerDoubling) == 0) found.push_back(step * schedulers);
    }
    return found;
}

std::vector<int> mix_alphas(bool quick) {
    // With 512 adds for each access, arithmetic limits all GPUs so far: more would repeat the last point.
    constexpr int kMost = 512;
    std::vector<int> alphas;
    for (double alpha = 1; alpha <= kMost * 1.01; alpha *= quick ? 4.0 : std::sqrt(2.0))
        if (const int rounded = static_cast<int>(std::lround(alpha)); alphas.empty() || alphas.back() != rounded)
            alphas.push_back(rounded);
    return alphas;
}

}  // namespace gputomo::measure
