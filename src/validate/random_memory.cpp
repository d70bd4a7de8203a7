// Caches and TLBs on the path of global loads, and the memory of random machines.
#include "validate/machine_maker.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace gputomo::validate {

namespace {

/// Largest reach of the first TLB, unless larger caches require more. A scan has to access several times the reach of
/// the second TLB, so a larger value takes longer to simulate.
constexpr std::int64_t kLargestFirstReach = 16 * kMiB;

}  // namespace

void MachineMaker::cache(const std::string& key, std::int64_t low, std::int64_t high, std::int64_t line,
                         std::int64_t least_ways) {
    const auto aimed = dice_.octaves(low, high);
    const auto ways = dice_.chance(50) ? least_ways * dice_.one_of(std::array<std::int64_t, 5>{1, 2, 4, 8, 16})
                                       : dice_.between(least_ways, 24);
    const auto least = static_cast<std::uint64_t>((low + line * ways - 1) / (line * ways));
    auto sets = std::max(least, static_cast<std::uint64_t>(aimed / line / ways));
    if (dice_.chance(75)) sets = std::bit_floor(sets) < least ? std::bit_ceil(sets) : std::bit_floor(sets);
    const std::int64_t sectors = line >= 64 && dice_.chance(30) ? (line >= 128 && dice_.chance(50) ? 4 : 2) : 1;
    auto& cache = machine_.caches[key];
    set(cache.capacity, static_cast<std::int64_t>(sets) * ways * line);
    set(cache.line, line);
    set(cache.sector, line / sectors);
    set(cache.ways, ways);
    set(cache.sets, static_cast<std::int64_t>(sets));
    set(cache.index, "modulo");
    set(cache.policy, policy(ways));
}

void MachineMaker::caches() {
    static constexpr std::array<std::int64_t, 5> kLines{16, 32, 64, 128, 256};
    // Caches that all SMs share have had at least 4 ways and lines of at least 32 bytes since Fermi's L2.
    static constexpr std::array<std::int64_t, 4> kSharedLines{32, 64, 128, 256};
    constexpr std::int64_t kLeastSharedWays = 4;
    const auto levels = dice_.between(0, 2);
    std::vector<std::string> keys;
    if (levels >= 1) {
        const bool private_to_sm = levels == 2 || dice_.chance(50);
        cache("l1", kKiB, private_to_sm ? 128 * kKiB : 4 * kMiB,
              private_to_sm ? dice_.one_of(kLines) : dice_.one_of(kSharedLines), private_to_sm ? 1 : kLeastSharedWays);
        set(machine_.caches["l1"].scope, private_to_sm ? "sm" : "gpu");
        set(machine_.caches["l1"].latency, dice_.between(20, 120));
        keys.emplace_back("l1");
    }
    if (levels == 2) {
        const auto& l1 = machine_.caches.at("l1");
        const auto line = std::min<std::int64_t>(256, *l1.line * (dice_.chance(70) ? 1 : 2));
        cache("l2", *l1.capacity * 4, 4 * kMiB, std::max<std::int64_t>(32, line), kLeastSharedWays);
        set(machine_.caches["l2"].scope, "gpu");
        set(machine_.caches["l2"].latency, *l1.latency + dice_.octaves(kLevelStep, 150));
        keys.emplace_back("l2");
    }
    set(machine_.paths["global"].caches, keys);
}

void MachineMaker::tlb(const std::string& key, std::int64_t entries, std::int64_t ways, std::int64_t span) {
    auto& tlb = machine_.tlbs[key];
    set(tlb.scope, key == "global_l1" ? "sm" : "gpu");
    set(tlb.reach, entries * span);
    set(tlb.entries, entries);
    set(tlb.ways, ways);
    set(tlb.sets, entries / ways);
    set(tlb.span, span);
    set(tlb.page, std::min(span, dice_.one_of(std::array<std::int64_t, 2>{4 * kKiB, 64 * kKiB})));
    set(tlb.miss_penalty, dice_.octaves(kLevelStep, 300));
    set(tlb.policy, dice_.chance(90) ? "lru" : "fifo");
}

void MachineMaker::tlbs() {
    // GPUs with virtual memory management map memory in pages of 2 MiB, and a TLB entry spans one or several of them.
    static constexpr std::array<std::int64_t, 5> kSmallSpans{4 * kKiB, 64 * kKiB, 128 * kKiB, 512 * kKiB, 2 * kMiB};
    static constexpr std::array<std::int64_t, 5> kLargeSpans{2 * kMiB, 2 * kMiB, 4 * kMiB, 16 * kMiB, 32 * kMiB};
    const bool large_pages = *machine_.identity.compute_capability_major >= kMappingSince;
    std::int64_t largest_cache = 128 * kKiB;
    for (const auto& [key, cache] : machine_.caches) largest_cache = std::max(largest_cache, *cache.capacity);
    // The first TLB reaches beyond the data caches; otherwise their misses would hide its misses.
    const bool fully_associative = dice_.chance(60);
    const auto ways = fully_associative ? dice_.between(8, 32) : dice_.one_of(std::array<std::int64_t, 3>{4, 8, 16});
    const auto entries = ways * (fully_associative ? 1 : std::int64_t{1} << dice_.between(1, 3));
    auto span = dice_.one_of(large_pages ? kLargeSpans : kSmallSpans);
    while (!large_pages && entries * span > kLargestFirstReach) span /= 2;
    while (entries * span < 2 * largest_cache) span *= 2;
    tlb("global_l1", entries, ways, span);
    std::vector<std::string> keys{"global_l1"};
    if (dice_.chance(60)) {
        const auto finer = large_pages || dice_.chance(75) ? 1 : dice_.one_of(std::array<std::int64_t, 2>{2, 8});
        const auto ways2 = dice_.one_of(std::array<std::int64_t, 4>{4, 6, 8, 16});
        std::int64_t sets = 1;
        while (ways2 * sets < 4 * entries * finer) sets *= 2;
        tlb("global_l2", ways2 * sets, ways2, span / finer);
        keys.emplace_back("global_l2");
    }
    set(machine_.paths["global"].tlbs, keys);
}

void MachineMaker::path_and_memory() {
    auto& path = machine_.paths["global"];
    std::int64_t last = 0;
    for (const auto& [key, cache] : machine_.caches) last = std::max(last, *cache.latency);
    // Half the spread of the latency over SMs. It takes three clusters: one has no spread, and two have no middle one.
    const auto spread = clusters_ < 3 ? 0 : dice_.between(0, 6);
    const auto latency = std::max(dice_.between(200, 900), last + kLevelStep + spread);
    set(path.memory_latency, latency);
    set(path.memory_latency_range, {latency - spread, latency + spread});
    const bool has_private_cache = machine_.caches.contains("l1") && *machine_.caches.at("l1").scope == "sm";
    set(path.tlb_position, has_private_cache && dice_.chance(30) ? "after-first-cache" : "before-caches");

    auto& memory = machine_.memory;
    const auto group = *machine_.shared.access_group;
    set(memory.coalescing_group, group);
    set(memory.transaction_sizes, {32, 64, 128});
    set(memory.channels, dice_.between(2, 8));
    // 2 to 8 bytes a cycle for each SM, which the resident warps can keep in flight over the latency above.
    const double per_sm = dice_.share(2, 8);
    const double read =
        std::round(per_sm * static_cast<double>(*machine_.topology.sms) * *machine_.clock.sm_mhz / 100) / 10;
    set(memory.read_bandwidth, read);
    set(memory.peak_bandwidth, std::round(read / dice_.share(0.8, 0.97) * 10) / 10);
    set(memory.copy_bandwidth, std::round(read * dice_.share(0.85, 0.98) * 10) / 10);
}

/// Every second machine has pauses of the whole memory. A pause lasts from a quarter of the memory latency to twice
/// that, and pauses take 1 to 4% of the time.
void MachineMaker::pauses() {
    auto& memory = machine_.memory;
    if (dice_.chance(50)) {
        for (auto* leaf : {&memory.pause_interval, &memory.pause_time}) {
            leaf->knowledge = machine::Knowledge::absent;
            leaf->provenance.source = source_;
        }
        return;
    }
    const auto latency = *machine_.paths["global"].memory_latency;
    const auto cycles = dice_.between(latency / 4, 2 * latency);
    const auto interval = std::max(cycles * dice_.between(25, 50), 20 * latency);
    const auto nanoseconds = [&](std::int64_t of) {
        return std::round(static_cast<double>(of) * 1000 / *machine_.clock.sm_mhz);
    };
    set(memory.pause_time, nanoseconds(cycles));
    set(memory.pause_interval, nanoseconds(interval));
}

}  // namespace gputomo::validate
