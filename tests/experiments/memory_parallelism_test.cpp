// Bandwidth against bytes in flight on simulated GPUs whose ports and latencies are known: Little's law comes back.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "measure/bandwidth/access_loop.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace gputomo::experiments {
namespace {

machine::Machine small_gpu(double port, std::int64_t l2_latency) {
    auto made = machine::load(GPUTOMO_SOURCE_DIR "/tests/data/machines/kepler_like.json");
    made.topology.sms.set(2);
    made.issue.scoreboard_loads = {};
    for (auto& [name, path] : made.paths)
        path.outstanding_design = {}, path.outstanding_entries = {}, path.outstanding_merge = {};
    for (auto& [name, cache] : made.caches)
        cache.outstanding_design = {}, cache.outstanding_entries = {}, cache.outstanding_merge = {};
    made.caches.at("l2").latency.set(l2_latency);
    made.caches.at("l2").latency_range = {};
    made.memory.interconnect_bytes_per_cycle.set(port);
    return made;
}

Outcome parallelism_of(const machine::Machine& machine) {
    const auto device = sim::make_device(machine, {.id = "sim:small"});
    const Findings none;
    Context context = quiet_context(*device, none);
    return memory_parallelism_experiment().run(context);
}

const results::Estimate& estimate(const Outcome& outcome, std::string_view path) {
    const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
    if (found == outcome.estimates.end()) throw std::runtime_error(std::string(path) + " is missing");
    return *found;
}

TEST(MemoryParallelism, OneSmReachesItsPortsBandwidthOnceEnoughBytesAreInFlight) {
    constexpr double port = 11;
    constexpr std::int64_t latency = 431;
    const auto outcome = parallelism_of(small_gpu(port, latency));
    const auto& rate = estimate(outcome, "caches.l2.sm_bytes_per_cycle");
    ASSERT_EQ(rate.knowledge, results::Knowledge::known) << rate.note;
    EXPECT_NEAR(std::get<double>(rate.value), port, 0.03 * port);
    const auto& needed = estimate(outcome, "caches.l2.sm_bytes_in_flight");
    ASSERT_TRUE(needed.interval.has_value());
    // Little's law; queues before the peak ask for more, by no more than a third here.
    const double little = 0.9 * port * static_cast<double>(latency);
    EXPECT_GE((*needed.interval)[1], little);
    EXPECT_LE((*needed.interval)[0], 1.35 * little);
    for (const auto* kind : {"store", "atomic"})
        EXPECT_NE(std::ranges::find(outcome.estimates, std::string("accesses.l2_") + kind + ".bytes_per_cycle",
                                    &results::Estimate::path),
                  outcome.estimates.end())
            << kind;
}

/// More loads in flight find the memory busier. What the description says of that comes back: where the memory is half
/// busy, loads wait 120 cycles longer.
TEST(MemoryParallelism, FindsHowLatencyGrowsWithLoad) {
    auto machine = small_gpu(64, 200);
    constexpr double slope = 120, limit = 130;  // cycles, GB/s
    machine.memory.channels = {}, machine.memory.peak_bandwidth = {}, machine.memory.copy_bandwidth = {};
    machine.memory.read_bandwidth.set(limit);
    machine.memory.contention_slopes.set({slope});
    machine.memory.contention_limits.set({limit});
    const auto outcome = parallelism_of(machine);
    const double found_slope = std::get<std::vector<double>>(estimate(outcome, "memory.contention_slopes").value).at(0),
                 found_limit = std::get<std::vector<double>>(estimate(outcome, "memory.contention_limits").value).at(0);
    constexpr double half = limit / 2;
    EXPECT_NEAR(found_slope * half / (found_limit - half), slope, 0.2 * slope);
}

TEST(AccessLoop, SkipsShapesThatExceedTheThreadsOfAnSm) {
    auto machine = small_gpu(24, 264);
    machine.topology.max_threads_per_block.set(256);
    const auto device = sim::make_device(machine, {.id = "sim:small"});
    const device::Buffer array(*device, Bytes{(1 << 16) + 512});
    AccessArea area{array.address(), 1 << 16};
    AccessLoop accesses(*device, {}, [](int lane) { return static_cast<std::uint32_t>(lane * 16); });
    EXPECT_FALSE(accesses.cycles({.blocks = 1, .warps = 9}, 4, area).has_value());
    EXPECT_FALSE(accesses.cycles({.blocks = 1, .warps = 3, .every = 4}, 4, area).has_value())
        << "twelve warps, of which three load";
    EXPECT_TRUE(accesses.cycles({.blocks = 1, .warps = 2, .every = 4}, 4, area).has_value());
    EXPECT_FALSE(accesses.cycles({.blocks = 3, .warps = 1}, 4, area).has_value()) << "three blocks on two SMs";
}

/// Half of a warp's loads from far away: they are waited for as long as if all were, and both areas are read.
TEST(AccessLoop, MixedAccessesTakeAsLongAsTheSlowerHalf) {
    auto machine = small_gpu(24, 200);
    for (auto& [name, path] : machine.paths)
        if (path.memory_latency) path.memory_latency.set(600), path.memory_latency_range = {};
    const auto device = sim::make_device(machine, {.id = "sim:small"});
    constexpr std::int64_t near_bytes = 1 << 14, far_bytes = 1 << 23;
    const device::Buffer near(*device, Bytes{near_bytes + 8192}), far(*device, Bytes{far_bytes + 8192});
    AccessArea cached{near.address(), near_bytes}, uncached{far.address(), far_bytes, true};
    const auto lane = [](int i) { return static_cast<std::uint32_t>(i * 4); };
    AccessLoop plain(*device, {AccessKind::load, 4, 4, 128}, lane),
        mixed(*device, {AccessKind::load, 4, 4, 128, true}, lane);
    const double of_cache = plain.cycles_per_iteration({1, 1, 1}, 32, 3, cached).value(),
                 of_memory = plain.cycles_per_iteration({1, 1, 1}, 32, 3, uncached).value();
    EXPECT_GT(of_memory, of_cache + 300);
    EXPECT_NEAR(mixed.cycles_per_iteration({1, 1, 1}, 32, 3, uncached, &cached).value(), of_memory, 0.03 * of_memory);
    EXPECT_NEAR(mixed.cycles_per_iteration({1, 1, 1}, 32, 3, cached, &cached).value(), of_cache, 0.03 * of_cache);
}

/// Lashgar 2015, 3.3 and Fig. 2.
TEST(L2Copy, GainsGrowUpToTheSizeOfTheCache) {
    constexpr std::int64_t bytes = 192 << 10;
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/m2070.json");
    // Few SMs: what all blocks copy at once is far less than the cache.
    machine.topology.sms.set(2);
    auto& l2 = machine.caches.at("l2");
    l2.capacity.set(bytes);
    l2.sets.set(bytes / (*l2.line * *l2.ways));
    const auto device = sim::make_device(machine, {.id = "sim:m2070"});
    const Findings none;
    Context context = quiet_context(*device, none, true);
    const auto outcome = l2_copy_experiment().run(context);
    ASSERT_EQ(outcome.estimates.size(), 1U);
    ASSERT_EQ(outcome.estimates.front().knowledge, results::Knowledge::known) << outcome.estimates.front().note;
    EXPECT_EQ(std::get<std::int64_t>(outcome.estimates.front().value), bytes);
}

/// A warp may have three loads in flight, an SM 43 (Kepler-like). Longer latency makes both slower, and the number of
/// loads in flight is what all shapes have in common.
TEST(AccessPatterns, LimitedEntriesAreDistinguishedFromALimitedRate) {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/k20.json");
    const auto device = sim::make_device(machine, {.id = "sim:k20"});
    const Findings none;
    Context context = quiet_context(*device, none, true);
    const auto outcome = access_patterns_experiment().run(context);
    for (const auto* shape : {"one_word", "unique"}) {
        EXPECT_EQ(std::get<std::string>(estimate(outcome, std::string("patterns.") + shape + ".first_limit").value),
                  "places")
            << shape;
        EXPECT_NEAR(static_cast<double>(std::get<std::int64_t>(
                        estimate(outcome, std::string("patterns.") + shape + ".outstanding_loads").value)),
                    43, 5)
            << shape;
    }
    EXPECT_LE(std::get<std::int64_t>(estimate(outcome, "patterns.one_word.warp_loads").value), 3);
}

}  // namespace
}  // namespace gputomo::experiments
