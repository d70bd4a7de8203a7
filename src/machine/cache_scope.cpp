#include "machine/cache_scope.hpp"

namespace gputomo::machine {
namespace {

const Cache* first_cache(const Machine& machine, const std::string& path, bool shared) {
    const auto described = machine.paths.find(path);
    if (described == machine.paths.end()) return nullptr;
    for (const auto& key : described->second.caches.value_or({}))
        if (const auto cache = machine.caches.find(key);
            cache != machine.caches.end() && is_shared_by_all(key, cache->second) == shared)
            return &cache->second;
    return nullptr;
}

}  // namespace

const Cache* shared_cache(const Machine& machine, const std::string& path) { return first_cache(machine, path, true); }

const Cache* near_cache(const Machine& machine, const std::string& path) { return first_cache(machine, path, false); }

}  // namespace gputomo::machine
