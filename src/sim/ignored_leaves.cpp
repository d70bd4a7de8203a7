#include "sim/ignored_leaves.hpp"

#include "sim/memory/description.hpp"
#include "units/warp.hpp"

namespace gputomo::sim {

std::vector<std::string> ignored_leaves(const machine::Machine& machine) {
    std::vector<std::string> ignored;
    for (const auto& [key, cache] : machine.caches)
        if (const auto where = key_path("caches", key); cache.far_latency && cache.latency_range)
            ignored.push_back(fmt::format("{0}.latency_range ignored beside {0}.far_latency", where));
    // The groups of a warp that follow its first take the rest of its latency, so that one group has none.
    if (machine.shared.warp_latency && machine.shared.access_group.value_or(kWarpSize) == kWarpSize)
        ignored.emplace_back("shared.warp_latency ignored, because a whole warp is one shared.access_group");
    for (const auto& [key, path] : machine.paths) {
        if (key == "global") continue;
        const auto where = key_path("paths", key);
        if (path.warp_latency) ignored.push_back(where + ".warp_latency ignored, because only the path global has one");
        if (path.transaction_cost)
            ignored.push_back(where + ".transaction_cost ignored, because only the path global has one");
    }
    return ignored;
}

}  // namespace gputomo::sim
