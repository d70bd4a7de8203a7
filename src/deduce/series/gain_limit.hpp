// Finds the size up to which a gain grows with the size of an array: the capacity of the cache that causes the gain.
#pragma once

#include <optional>
#include <span>

namespace gputomo::deduce {

struct GainLimit {
    double last = 0;  ///< the largest size up to which the gain grows
    double next = 0;  ///< the next size that was tried
};

/// `sizes` ascend. Beyond the limit the gain may stay, or fall because larger arrays evict what is used next.
/// Returns nullopt for fewer than five sizes, if the last size gains most, and if the gain is no more than scatter.
[[nodiscard]] std::optional<GainLimit> gain_limit(std::span<const double> sizes, std::span<const double> gains);

}  // namespace gputomo::deduce
