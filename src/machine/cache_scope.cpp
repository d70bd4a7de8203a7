#include "machine/cache_scope.hpp"

namespace gputomo::machine {
namespace {

const Cache* first_cache(const Machine& machine, const std::string& path, bool shared) {
    for (const auto& key : caches_on(machine, path))
        if (const auto cache = machine.caches.find(key);
            cache != machine.caches.end() && is_shared_by_all(key, cache->second) == shared)
            return &cache->second;
    return nullptr;
}

}  // namespace

std::vector<std::string> caches_on(const Machine& machine, const std::string& path) {
    const auto described = machine.paths.find(path);
    return described == machine.paths.end() ? std::vector<std::string>{} : described->second.caches.value_or({});
}

const Cache* shared_cache(const Machine& machine, const std::string& path) { return first_cache(machine, path, true); }

const Cache* near_cache(const Machine& machine, const std::string& path) { return first_cache(machine, path, false); }

}  // namespace gputomo::machine
