// Which caches of a description all SMs share, and the one that each path meets first.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gputomo::machine {

/// Whether all SMs share the cache with this key. Where its scope is open, only "l2" is taken to be shared.
[[nodiscard]] inline bool is_shared_by_all(std::string_view key, const Cache& cache) {
    return cache.scope.value_or(key == "l2" ? "gpu" : "sm") == "gpu";
}

/// Keys of the caches on the path, in the order in which an access meets them; none where the path is not described.
[[nodiscard]] std::vector<std::string> caches_on(const Machine& machine, const std::string& path);

/// The first cache on the path that all SMs share; nullptr where none is described.
[[nodiscard]] const Cache* shared_cache(const Machine& machine, const std::string& path);

/// The first cache on the path that not all SMs share; nullptr where none is described.
[[nodiscard]] const Cache* near_cache(const Machine& machine, const std::string& path);

}  // namespace gputomo::machine
