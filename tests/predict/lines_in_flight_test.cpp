// The first-level cache beside shared memory, and the loads in flight that it allows.
#include "costs/lines_in_flight.hpp"
#include "predicting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace gputomo::predict::testing {
namespace {

/// A GTX 980 with an L1 of 96 lines in sets of four ways, of which shared memory may take all but two sets.
machine::Machine splitting() {
    auto machine = machine_named("gtx980");
    const auto set = [](auto& leaf, auto value) {
        leaf.value = std::move(value), leaf.knowledge = machine::Knowledge::known;
    };
    auto& l1 = machine.caches["l1"];
    set(l1.line, 128), set(l1.ways, 4), set(l1.capacity, 96 * 128);
    set(l1.capacity_options, std::vector<std::int64_t>{96 * 128, 48 * 128, 8 * 128});
    set(machine.shared.unified_cache, std::string("l1"));
    set(machine.shared.capacity_options, std::vector<std::int64_t>{16384, 65536, 98304});
    return machine;
}

TEST(LinesInFlight, SmallestSplitThatHoldsTheBlocksApplies) {
    const auto machine = splitting();
    EXPECT_EQ(costs::lines_beside(machine, 0)->lines, 96);
    EXPECT_EQ(costs::lines_beside(machine, 16384)->lines, 96);
    EXPECT_EQ(costs::lines_beside(machine, 16385)->lines, 48);
    EXPECT_EQ(costs::lines_beside(machine, 98304)->lines, 8);
    EXPECT_FALSE(costs::lines_beside(machine_named("gtx980"), 0));
}

TEST(LinesInFlight, SetsFillUpBeforeTheCacheDoes) {
    // One set fills all its lines. With many sets, one is full long before the others; with more queues, the others
    // proceed meanwhile.
    EXPECT_NEAR(costs::mean_lines_in_flight({.lines = 64, .ways = 64}, 1), 64, 0.5);
    EXPECT_EQ(costs::mean_lines_in_flight({.lines = 64, .ways = 0}, 4), 64);
    const double one = costs::mean_lines_in_flight({.lines = 256, .ways = 4}, 1),
                 four = costs::mean_lines_in_flight({.lines = 256, .ways = 4}, 4);
    EXPECT_LT(one, 100);
    EXPECT_GT(four, one * 1.2);
    EXPECT_LT(four, 256);
    EXPECT_GT(costs::mean_lines_in_flight({.lines = 256, .ways = 8}, 4), four);
}

TEST(LinesInFlight, OneSetOfTwoWaysAndTwoQueuesIsAlwaysFull) {
    EXPECT_NEAR(costs::mean_lines_in_flight({.lines = 2, .ways = 2}, 2), 2, 0.1);
}

TEST(LinesInFlight, ScatteredLoadsSlowDownIfSharedMemoryLimitsOccupancy) {
    const auto code = [] { return compiled(ptx_of("ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd1], %f1;")); };
    Choices choices{.path = {},
                    .access = {.transactions = {{9, 32}}, .ways = {}},
                    .warps_of_block = 4,
                    .dynamic_shared = 0,
                    .holding = {}};
    const auto free = predict(code(), splitting(), choices, "test");
    choices.holding = [](int blocks) { return blocks < 16 ? 98304 / (blocks + 1) + 256 : 4096; };
    const auto held = predict(code(), splitting(), choices, "test");
    EXPECT_EQ(held.points[7].warps, 32);
    EXPECT_EQ(held.points[7].cache_lines, 8);
    EXPECT_EQ(held.points.back().cache_lines, 48) << "16 blocks of the 4096 bytes that the code declares";
    // Eight lines in flight are a quarter of a load. Little's law with at least the unloaded latency gives the rate.
    const auto latency = static_cast<double>(machine_named("gtx980").paths.at("global").memory_latency.value);
    EXPECT_LT(warps_per_cycle_at(held, 32), 8.0 / 32 / latency);
    EXPECT_LT(warps_per_cycle_at(held, 32), warps_per_cycle_at(free, 32) / 2);
    const auto says = [](const Prediction& p) {
        return std::ranges::any_of(p.assumptions, [](const auto& a) {
            return a.find("leaves the first-level cache 8 lines") != std::string::npos;
        });
    };
    EXPECT_TRUE(says(held));
    EXPECT_FALSE(says(free));
}

TEST(LinesInFlight, LoadsOfNeighboursFillAllSetsEvenly) {
    const auto code = [] {
        return compiled(
            ptx_of("mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, "
                   "[%rd3]; st.global.f32 [%rd3], %f1;"));
    };
    Choices choices{.path = {}, .access = {}, .warps_of_block = 4, .dynamic_shared = 98304 / 8, .holding = {}};
    const auto held = predict(code(), splitting(), choices, "test");
    // With a line per warp, eight warps are in flight at 368 cycles each.
    EXPECT_LE(warps_per_cycle_at(held, 32), 8.0 / 368 + 1e-9);
    EXPECT_GT(warps_per_cycle_at(held, 32), 0.8 * 8 / 400);
}

}  // namespace
}  // namespace gputomo::predict::testing
