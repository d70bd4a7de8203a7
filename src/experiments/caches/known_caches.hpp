// What is known of the caches before global memory when an experiment starts.
#pragma once

#include "experiments/experiment.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// The names that a leaf such as paths.global.caches lists; none where it was not found.
[[nodiscard]] std::vector<std::string> names_of(const Findings& findings, const std::string& path);
/// Of a number that was left open the lower end, else the number; nothing where neither is known.
[[nodiscard]] std::optional<double> least_of(const Findings& findings, const std::string& path);
/// And the upper end.
[[nodiscard]] std::optional<double> most_of(const Findings& findings, const std::string& path);

/// Bytes that a cache (its key in the description) holds at most: of a size left open the upper end; 0 where nothing
/// was found.
[[nodiscard]] std::int64_t most_capacity(const Findings& findings, const std::string& key);

/// Bytes of the largest cache on the way to global memory: the larger of what the driver says and of what was found; 0
/// where neither says anything.
[[nodiscard]] std::int64_t largest_cache(const Context& context);

/// Key in the description of the last cache on the way to global memory; "l2" where that was not found.
[[nodiscard]] std::string last_cache(const Findings& findings);

}  // namespace gputomo::experiments
