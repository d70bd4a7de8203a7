// Which SMs or schedulers share a cache, on simulated GPUs with SLRU and LRU caches and with caches of a scheduler.
#include "machine/json.hpp"
#include "measure/chase/interference_chase.hpp"
#include "measure/code_fetch/instruction_chase.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::measure {
namespace {

machine::Machine shipped(const std::string& name) {
    return machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
}

template <class Leaf, class Value>
void set(Leaf& leaf, Value value) {
    leaf.value = std::move(value);
    leaf.knowledge = machine::Knowledge::known;
}

/// Each array fits a GTX 560 Ti's L1 alone, but not both together: three lines of each fall into a set of four ways.
std::optional<InterferenceChase::Cycles> chase_together(std::string_view policy, InterferenceChase::Setup setup) {
    auto machine = shipped("gtx560ti");
    set(machine.caches.at("l1").policy, std::string(policy));
    machine.caches.at("l1").way_odds = {};
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    const device::Buffer memory(*gpu, Bytes{1 << 20});
    InterferenceChase chase(*gpu, LoadHint::all);
    std::vector<device::Address> own, rivals;
    for (std::uint64_t offset = 0; offset < 12288; offset += 128)
        own.push_back(memory.address() + offset), rivals.push_back(memory.address() + 16384 + offset);
    chase.set_arrays(own, rivals);
    return chase.cycles(setup);
}

TEST(Scopes, AnSlruCacheProtectsUsedLinesFromASecondBlock) {
    const auto alone = chase_together("slru", {}), rival_alone = chase_together("slru", {.passes = 3, .own = false}),
               both = chase_together("slru", {.passes = 3}),
               elsewhere = chase_together("slru", {.rival = 5, .passes = 3});
    ASSERT_TRUE(alone && rival_alone && both && elsewhere);
    EXPECT_DOUBLE_EQ(rival_alone->rival, alone->own);
    EXPECT_DOUBLE_EQ(elsewhere->own, alone->own);
    EXPECT_DOUBLE_EQ(elsewhere->rival, alone->own);
    const auto memory = chase_together("slru", {.passes = 1})->rival;  // in its first pass
    EXPECT_NEAR(both->own, alone->own + (memory - alone->own) / 3, 0.1 * memory)
        << "of three lines two are kept for ever";
    EXPECT_DOUBLE_EQ(both->rival, memory);
}

TEST(Scopes, AnLruCacheLosesAllLinesToASecondBlock) {
    const auto alone = chase_together("lru", {}), both = chase_together("lru", {.passes = 1});
    ASSERT_TRUE(alone && both);
    EXPECT_DOUBLE_EQ(both->own, both->rival);
    EXPECT_GT(both->own, 2 * alone->own);
}

/// Another block on SM 0 has as many warps as the SM has schedulers. Counts those whose code evicts the code of the
/// first block's first warp.
struct Taking {
    int warps = 0, of_its_scheduler = 0;
};

Taking warps_that_take(const std::string& scope, std::uint32_t schedulers) {
    auto machine = shipped("gtx280");
    set(machine.issue.schedulers_per_sm, std::int64_t{schedulers});
    set(machine.caches.at("instruction_l1").scope, scope);
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    const Run run{.device = *gpu, .progress = [](double, std::string_view) {}};
    InstructionChase chase(run, 128, std::nullopt);
    Taking taking;
    for (std::uint32_t warp = 0; warp < schedulers; ++warp) {
        InstructionChase::Interference code{.warps = schedulers, .rival_warp = warp, .passes = 3};
        for (std::uint64_t offset = 0; offset < 3072; offset += 256)
            code.own.push_back(offset), code.rivals.push_back(4096 + offset);
        const auto competed = chase.run_with_rival(code);
        if (!competed || !std::ranges::all_of(competed->latencies, [](double cycles) { return cycles > 10; })) continue;
        ++taking.warps;
        taking.of_its_scheduler += competed->slot % schedulers == competed->rivals_slot % schedulers ? 1 : 0;
    }
    return taking;
}

TEST(Scopes, DistinguishesInstructionCachesOfASchedulerAndOfAnSm) {
    for (const std::uint32_t schedulers : {2, 4}) {
        const auto taking = warps_that_take("scheduler", schedulers);
        EXPECT_EQ(taking.warps, 1);
        EXPECT_EQ(taking.of_its_scheduler, 1);
    }
    EXPECT_EQ(warps_that_take("sm", 2).warps, 2);
    EXPECT_EQ(warps_that_take("tpc", 4).warps, 4);
}

}  // namespace
}  // namespace gputomo::measure
