// Up to which size does a gain grow with size? A cache of that size is what it comes from.
#pragma once

#include <optional>
#include <span>

namespace gputomo::deduce {

struct GainLimit {
    double last = 0;  ///< the last size up to which the gain grows
    double next = 0;  ///< the next one that was tried
};

/// `sizes` ascend. Whether the gain stays, or goes down again because larger sizes push out what is used next, does not
/// matter. Nothing for fewer than five sizes, where the last one gains most, or where the gain is no more than scatter.
[[nodiscard]] std::optional<GainLimit> gain_limit(std::span<const double> sizes, std::span<const double> gains);

}  // namespace gputomo::deduce
