// Which caches of a description all SMs share.
#pragma once

#include "machine/caches.hpp"

#include <string_view>

namespace gputomo::machine {

/// Whether all SMs share the cache with this key. Where its scope is open, only "l2" is taken to be shared.
[[nodiscard]] inline bool is_shared_by_all(std::string_view key, const Cache& cache) {
    return cache.scope.value_or(key == "l2" ? "gpu" : "sm") == "gpu";
}

}  // namespace gputomo::machine
