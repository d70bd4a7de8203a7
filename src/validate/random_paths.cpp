// The paths of constants, textures and instructions of random machines.
#include "validate/machine_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gputomo::validate {

std::string MachineMaker::near_scope() {
    // With one cluster the scope is the whole GPU; with one SM per cluster it is the SM.
    if (clusters_ == 1) return "gpu";
    return *machine_.topology.sms_per_tpc > 1 && dice_.chance(50) ? "tpc" : "sm";
}

void MachineMaker::path_cache(const std::string& key, const std::string& scope, std::int64_t low, std::int64_t high,
                              std::int64_t line, std::int64_t latency) {
    constexpr std::int64_t kLeastWays = 2;
    cache(key, low, std::max(low, high), line, kLeastWays);
    auto& cache = machine_.caches.at(key);
    set(cache.scope, scope);
    set(cache.latency, latency);
    // The cache before this one requests whole lines, and so does instruction fetch. Shorter sectors would never show.
    if (!key.ends_with("l1") || key == "instruction_l1") set(cache.sector, *cache.line);
}

void MachineMaker::path(const std::string& name, const std::vector<std::string>& keys) {
    auto& path = machine_.paths[name];
    const std::int64_t global = *machine_.paths.at("global").memory_latency;
    const std::int64_t last = keys.empty() ? 0 : *machine_.caches.at(keys.back()).latency;
    set(path.caches, keys);
    set(path.memory_latency, std::max(global, last + 2 * kLevelStep));
}

void MachineMaker::constant_path() {
    static constexpr std::array<std::int64_t, 2> kNearLines{64, 128};
    static constexpr std::array<std::int64_t, 3> kLines{64, 128, 256};
    const auto levels = dice_.between(0, 3);
    std::vector<std::string> keys;
    // A dependent load cannot issue sooner than the next instruction of its warp.
    const auto soonest =
        std::max(*machine_.issue.ilp_latency, static_cast<std::int64_t>(*machine_.issue.issue_interval));
    std::int64_t latency = std::max(soonest, dice_.between(4, 60)), low = kKiB, line = dice_.one_of(kNearLines);
    for (std::int64_t level = 1; level <= levels; ++level) {
        keys.push_back(fmt::format("constant_l{}", level));
        const bool last = level == 3;
        path_cache(keys.back(),
                   last                          ? "gpu"
                   : level == 1 && clusters_ > 1 ? "sm"
                                                 : near_scope(),
                   low,
                   last         ? 40 * kKiB
                   : level == 2 ? 12 * kKiB
                                : 3 * kKiB,
                   line, latency);
        // No cache of a smaller scope follows one of the whole GPU.
        if (*machine_.caches.at(keys.back()).scope == "gpu") break;
        low = *machine_.caches.at(keys.back()).capacity * 2;
        line = std::max(line, dice_.one_of(kLines));
        latency += dice_.octaves(kLevelStep, 120);
    }
    path("constant", keys);
}

void MachineMaker::texture_path() {
    static constexpr std::array<std::int64_t, 3> kNearLines{32, 64, 128};
    const auto levels = dice_.between(0, 2);
    std::vector<std::string> keys;
    const auto line = dice_.one_of(kNearLines);
    const auto latency = dice_.between(40, 150);
    if (levels > 0) {
        path_cache("texture_l1", near_scope(), 4 * kKiB, 32 * kKiB, line, latency);
        keys.emplace_back("texture_l1");
    }
    if (levels > 1) {
        const auto far_line = std::max<std::int64_t>(line, dice_.chance(50) ? 256 : 32);
        path_cache("texture_l2", "gpu", 4 * *machine_.caches.at("texture_l1").capacity, 512 * kKiB, far_line,
                   latency + dice_.octaves(kLevelStep, 150));
        keys.emplace_back("texture_l2");
    }
    path("texture", keys);
}

void MachineMaker::instruction_path() {
    // Dual issue needs both instructions of a pair to be fetched. The simulator does not model what that costs, so
    // these machines have no instruction caches.
    if (*machine_.issue.dual_issue > 1) return;
    static constexpr std::array<std::int64_t, 2> kLines{128, 256};
    constexpr std::int64_t kLongSince = 7;
    const std::int64_t instruction = *machine_.identity.compute_capability_major >= kLongSince ? 16 : 8;
    // The pipeline hides fetches from the first cache. The unrolled loops of experiments fit it: the simulator does not
    // prefetch, so fetches of straight code from farther levels show, which a GPU hides.
    path_cache("instruction_l1", clusters_ > 1 ? "sm" : "gpu", instruction * kKiB, 3 * instruction * kKiB,
               dice_.one_of(kLines), 0);
    std::vector<std::string> keys{"instruction_l1"};
    // The further levels are those of the constant path, or there are none.
    const auto& constant = *machine_.paths.at("constant").caches;
    if (dice_.chance(70) && *machine_.caches.at("instruction_l1").scope == "sm")
        for (std::size_t i = 1; i < constant.size(); ++i)
            if (*machine_.caches.at(constant[i]).capacity >= 2 * *machine_.caches.at("instruction_l1").capacity)
                keys.push_back(constant[i]);
    path("instruction", keys);
    // A cache that two paths share misses to the same memory, so the latencies agree.
    set(machine_.paths["instruction"].memory_latency,
        std::max(*machine_.paths.at("instruction").memory_latency, *machine_.paths.at("constant").memory_latency));
    set(machine_.instruction_supply.instruction_bytes, instruction);
    static constexpr std::array<std::int64_t, 2> kBlocks{64, 128};
    set(machine_.instruction_supply.fetch_block, dice_.one_of(kBlocks));
}

}  // namespace gputomo::validate
