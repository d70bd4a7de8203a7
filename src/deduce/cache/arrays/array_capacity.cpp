#include "deduce/cache/arrays/array_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::deduce::cache {
namespace {

/// Bisects between `low` steps, which fit, and `high` steps, which do not, as far as is known. Whether any array fits.
bool bisect_capacity(const Residency& residency, const CacheQuestion& question, std::uint64_t step, std::uint64_t low,
                     std::uint64_t high, Bracket& capacity) {
    const auto known = [&](std::uint64_t fit, std::uint64_t overflow) {
        capacity.fits = fit * step, capacity.overflows = std::max(overflow * step, question.overflows);
    };
    known(low, high);
    // The bracket comes from a coarse sweep, which may have touched only some of the sets.
    while (low > 0 && !residency.array_fits(low * step)) {
        high = low;
        low /= 2;
        known(low, high);
    }
    while (high * step * 2 <= question.buffer_bytes && residency.array_fits(high * step)) {
        low = high;
        high *= 2;
        known(low, high);
    }
    while (low > 0 && high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (residency.array_fits(middle * step) ? low : high) = middle;
        known(low, high);
    }
    return low > 0;
}

}  // namespace

std::string find_array_capacity(Residency& residency, const CacheQuestion& question, std::uint64_t step,
                                Bracket& capacity) {
    const std::uint64_t low = question.fits / step, high = (question.overflows + step - 1) / step;
    capacity.fits = low * step, capacity.overflows = question.overflows;
    if (high > question.max_pass_loads)
        return fmt::format("arrays that overflow take up to {} loads in a pass; only up to {} are measured to the line",
                           high, question.max_pass_loads);
    const auto bisect = [&](std::uint64_t from, std::uint64_t to) {
        return bisect_capacity(residency, question, step, from, to, capacity);
    };
    // Lines that fit are usually resident soon. Among long arrays, only the one that is a step too large is observed
    // for long.
    const bool at_once = high <= kManyLoads;
    residency.set_patient(at_once);
    bool found = bisect(low, high);
    residency.set_patient(true);
    if (!at_once) {
        const std::uint64_t next = capacity.fits + step;
        if (!found)
            found = bisect(low, high);
        else if (residency.array_fits(next))
            found = bisect(next / step, std::max(high, next / step + 1));
    }
    if (!found) return "no contiguous array was read without misses, whatever its size";
    capacity.overflow = capacity.fits + step;
    return {};
}

}  // namespace gputomo::deduce::cache
