#include "deduce/geometry/capacity.hpp"

#include <algorithm>

namespace gputomo::deduce::geometry {

Bracket bracket_capacity(Probe& probe, std::uint64_t step) {
    const auto& q = probe.question();
    const auto fits = [&](std::uint64_t steps) { return probe.fits(strided(steps * step, step)); };
    std::uint64_t low = q.fits / step, high = (q.overflows + step - 1) / step;
    const std::uint64_t tolerance = std::max<std::uint64_t>(1, high / 64);
    // The question's bracket comes from a coarse walk, which may have touched only some of the sets.
    while (low > 0 && !fits(low)) {
        high = low;
        low /= 2;
    }
    while (low > 0 && high - low > tolerance) {
        const std::uint64_t middle = low + (high - low) / 2;
        (fits(middle) ? low : high) = middle;
    }
    // An array that fits in one order may not fit in another where the set is a hash or the victim is drawn.
    return {low * step, std::max(high * step, q.overflows)};
}

}  // namespace gputomo::deduce::geometry
