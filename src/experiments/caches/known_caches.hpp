// The caches on the way to global memory as earlier experiments found them.
#pragma once

#include "experiments/experiment.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// The names that a leaf such as paths.global.caches lists; none if it was not found.
[[nodiscard]] std::vector<std::string> names_of(const Findings& findings, const std::string& path);
/// The lower end of a number's interval, or the number if it has none; nothing if neither is known.
[[nodiscard]] std::optional<double> least_of(const Findings& findings, const std::string& path);
/// The upper end of a number's interval, or the number if it has none; nothing if neither is known.
[[nodiscard]] std::optional<double> most_of(const Findings& findings, const std::string& path);

/// Most bytes that the cache with this key in the description holds: the upper end of its interval; 0 if nothing was
/// found.
[[nodiscard]] std::int64_t most_capacity(const Findings& findings, const std::string& key);

/// Bytes of the largest cache on the way to global memory: the larger of the driver's L2 and of the caches that were
/// found; 0 if both are unknown.
[[nodiscard]] std::int64_t largest_cache(const Context& context);

/// Key in the description of the last cache on the way to global memory; "l2" if that was not found.
[[nodiscard]] std::string last_cache(const Findings& findings);

}  // namespace gputomo::experiments
