// Behaviours 400 to 499: the load/store unit alone.
#include "machines.hpp"
#include "memory_fixture.hpp"
#include "unit_memory.hpp"

#include "machine/json.hpp"
#include "sim/completion.hpp"
#include "sim/sm/load_store/load_store.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gputomo::sim::test {
namespace {

constexpr std::uint32_t kWarpMask = 0xFFFFFFFF;

/// The load/store unit of one SM, whose issue interval is 2 cycles.
struct Rigged {
    Rigged(const machine::Machine& machine, MemorySystem& memory)
        : unit{.spec = load_store_spec_of(machine, GlobalLoads(machine)),
               .coalescers = Coalescers(machine),
               .state = idle_load_store({}, 1, 4),
               .memory = memory} {}

    /// Lane l accesses first + l * stride.
    AccessTimes access(const MemoryInstruction& instruction, double now, std::uint64_t first, std::uint64_t stride,
                       std::uint32_t mask = kWarpMask) {
        std::array<std::uint64_t, 32> addresses{};
        for (std::size_t lane = 0; lane < addresses.size(); ++lane) addresses[lane] = first + lane * stride;
        return sim::access(
            unit, {.instruction = instruction, .addresses = addresses, .mask = mask, .returning = &returning}, now);
    }
    LoadStoreUnit unit;
    costs::ReturningWords returning;
};

struct LoadStoreOfGt200 : testing::Test {
    FixedLatencyMemory memory{440};
    Rigged sm{small_machine(), memory};
};

using LoadStore401 = LoadStoreOfGt200;
TEST_F(LoadStore401, ACoalescedLoadIsOneTransactionForEachHalfWarp) {
    const auto times = sm.access({}, 100, 0x1000, 4);
    ASSERT_EQ(memory.accesses.size(), 2U);
    EXPECT_EQ(memory.accesses[0].transaction.address, 0x1000U);
    EXPECT_EQ(memory.accesses[0].transaction.bytes, 64U);
    EXPECT_EQ(memory.accesses[1].transaction.address, 0x1040U);
    EXPECT_EQ(memory.accesses[1].when, 101) << "the second leaves a cycle after the first";
    EXPECT_EQ(times.done, 541);
    EXPECT_EQ(times.warp_free, 101);
    EXPECT_EQ(times.scheduler_free, 102);
}

using LoadStore402 = LoadStoreOfGt200;
TEST_F(LoadStore402, TransactionsOfADivergedLoadLeaveOneAfterTheOther) {
    const auto times = sm.access({}, 100, 0x1000, 256);
    EXPECT_EQ(memory.accesses.size(), 32U);
    EXPECT_EQ(memory.accesses.back().when, 131);
    EXPECT_EQ(times.done, 571);
    EXPECT_EQ(times.warp_free, 131) << "the warp waits until its last transaction has left";
}

TEST(Coalescer, CountsAByteOfSeveralThreadsOnce) {
    machine::Machine machine;
    machine.paths["global"].caches.set({"l2"});
    machine.caches["l2"].scope.set("gpu");
    machine.caches["l2"].line.set(128);
    machine.caches["l2"].sector.set(32);
    Coalescer coalescer(machine, "global");
    std::array<std::uint64_t, 32> addresses{};
    for (std::size_t lane = 0; lane < 32; ++lane) addresses[lane] = 0x1000 + 4 * (lane % 4);
    const auto& segments = coalescer.merge(addresses, ~0U, 4);
    ASSERT_EQ(segments.size(), 1U);
    EXPECT_TRUE(segments[0].partial) << "32 threads write 16 bytes of a sector";
    EXPECT_EQ(segments[0].touched.count(), 16U);
}

using LoadStore403 = LoadStoreOfGt200;
TEST_F(LoadStore403, TransactionsOfOneInstructionShareItsRequestNumber) {
    (void)sm.access({}, 100, 0x1000, 256);
    (void)sm.access({}, 200, 0x1000, 256);
    EXPECT_EQ(memory.accesses[0].transaction.request, memory.accesses[31].transaction.request);
    EXPECT_EQ(memory.accesses[32].transaction.request, memory.accesses[0].transaction.request + 1);
}

using LoadStore404 = LoadStoreOfGt200;
TEST_F(LoadStore404, StoresHoldTheLaunchButNotTheWarpUntilTheQueueIsFull) {
    EXPECT_EQ(sm.access({.kind = AccessKind::store}, 100, 0x1000, 4, 1).warp_free, 100);
    FixedLatencyMemory slow{1500};
    Rigged behind(small_machine(), slow);
    EXPECT_EQ(behind.access({.kind = AccessKind::store}, 100, 0x1000, 4, 1).warp_free, 600)
        << "a store leaves 1000 cycles after its issue at the latest";
}

using LoadStore405 = LoadStoreOfGt200;
TEST_F(LoadStore405, FurtherTransactionsAreReissued) {
    sm.unit.spec.served_per_issue = 8;
    const auto times = sm.access({}, 100, 0x1000, 256);
    EXPECT_EQ(times.scheduler_free, 100 + 2 * (1 + 3)) << "32 transactions take 3 more issues";
    EXPECT_EQ(times.warp_gap, 100 + 2 + 2 * 3);
}

using LoadStore421 = LoadStoreOfGt200;
TEST_F(LoadStore421, AConflictFreeSharedLoadTakesTheDescribedLatency) {
    const auto times = sm.access({.space = ptx::Space::shared}, 100, 0, 4, 0xFFFF);
    EXPECT_EQ(times.done, 138);
    EXPECT_EQ(sm.unit.state.bank_conflict_cycles, 0U);
    EXPECT_TRUE(memory.accesses.empty());
}

using LoadStore422 = LoadStoreOfGt200;
TEST_F(LoadStore422, EachWayOfABankConflictAddsItsCost) {
    EXPECT_EQ(sm.access({.space = ptx::Space::shared}, 100, 0, 8, 0xFFFF).done, 138 + 16);
    EXPECT_EQ(sm.access({.space = ptx::Space::shared}, 1000, 0, 64, 0xFFFF).done, 1038 + 15 * 16);
    EXPECT_EQ(sm.unit.state.bank_conflict_cycles, 16U + 15 * 16);
}

using LoadStore423 = LoadStoreOfGt200;
TEST_F(LoadStore423, AnAccessWaitsForTheBanks) {
    (void)sm.access({.space = ptx::Space::shared}, 100, 0, 64, 0xFFFF);  // 16 ways of 2 cycles
    EXPECT_EQ(sm.unit.state.banks_free[0], 132);
    sm.returning = {};  // of another warp
    EXPECT_EQ(sm.access({.space = ptx::Space::shared}, 110, 0, 4, 0xFFFF).done, 132 + 38);
}

using LoadStore431 = LoadStoreOfGt200;
TEST_F(LoadStore431, LocalMemoryKeepsTheSameWordOfAllThreadsTogether) {
    std::array<std::uint64_t, 32> addresses{};
    addresses.fill(8);  // the third word of each thread's frame
    (void)access(sm.unit,
                 {.instruction = {.space = ptx::Space::local},
                  .addresses = addresses,
                  .mask = kWarpMask,
                  .local_frames = 0x10000},
                 100);
    ASSERT_EQ(memory.accesses.size(), 2U);
    EXPECT_EQ(memory.accesses[0].transaction.address, 0x10000U + 2 * 32 * 4);
    EXPECT_EQ(memory.accesses[0].transaction.path, PathKind::local);
}

/// A memory system whose L1 has one MSHR that merges two requests.
struct LoadStoreOfOneMshr : testing::Test {
    static machine::Machine described() {
        auto machine = small_machine();
        machine.caches["l1"] = make_cache({});
        machine.caches["l1"].outstanding_design.set("mshr");
        machine.caches["l1"].outstanding_entries.set(1);
        machine.caches["l1"].outstanding_merge.set(2);
        machine.paths["global"].caches.set({"l1"});
        machine.memory.read_bandwidth.set(1e6);  // bytes take no time
        return machine;
    }
    const machine::Machine machine = described();
    const PlainAddresses plain{};
    const std::unique_ptr<MemorySystem> memory = make_memory_system(machine, plain, {});
    Rigged sm{machine, *memory};
    double load(std::uint64_t address, double now) { return sm.access({}, now, address, 4, 1).done; }
};

using LoadStore441 = LoadStoreOfOneMshr;
TEST_F(LoadStore441, AMissMergesIntoThePendingEntryOfItsLine) {
    EXPECT_EQ(load(0x1000, 100), 540);
    EXPECT_EQ(load(0x1004, 150), 540) << "the line is in flight: no second request";
}

using LoadStore442 = LoadStoreOfOneMshr;
TEST_F(LoadStore442, AMissOfAnotherLineWaitsForTheEntry) {
    EXPECT_EQ(load(0x1000, 100), 540);
    EXPECT_EQ(load(0x2000, 150), 540 + 440);
}

using LoadStore443 = LoadStoreOfOneMshr;
TEST_F(LoadStore443, ARequestThatTheEntryCannotMergeIsLookedUpAgain) {
    EXPECT_EQ(load(0x1000, 100), 540);
    EXPECT_EQ(load(0x1004, 150), 540);
    EXPECT_EQ(load(0x1008, 160), 540 + 30) << "a hit after the data came";
}

/// A GPU whose global accesses pass through a cache of the SM.
machine::Machine with_one_cache() {
    auto machine =
        completed(machine::load(std::filesystem::path(GPUTOMO_SOURCE_DIR) / "machines" / "h200.json")).machine;
    machine.paths.at("global").transaction_cost.set(20.0);
    machine.paths.at("global").transaction_interval.set(0.25);
    return machine;
}

struct LoadStoreOfHopper : testing::Test {
    FixedLatencyMemory memory{300};
    Rigged sm{with_one_cache(), memory};
};

using LoadStore410 = LoadStoreOfHopper;
TEST_F(LoadStore410, ScatteredLoadsOfAllWarpsWaitForTheBanksOfTheStorage) {
    EXPECT_EQ(sm.access({}, 100, 0x10000, 128).warp_free, 131) << "32 words of one bank";
    EXPECT_EQ(memory.accesses.back().when, 131) << "not 20 cycles apart, which only DRAM costs";
    sm.returning = {};  // of another warp
    const auto next = sm.access({}, 110, 0x80000, 4);
    EXPECT_EQ(memory.accesses.back().when, 132) << "after the words of the other warp";
    EXPECT_EQ(next.done, 432);
}

TEST_F(LoadStore410, LinesWhoseWordsLieInOtherBanksPassFourACycle) {
    (void)sm.access({}, 100, 0x10000, 132);
    EXPECT_EQ(memory.accesses.back().when, 100 + 31 * 0.25);
    EXPECT_EQ(sm.unit.state.banks_free[0], 108);
}

using LoadStore411 = LoadStoreOfHopper;
TEST_F(LoadStore411, AStoreTakesACycleForEachSectorAndOneForEachLineInPart) {
    const MemoryInstruction store{.kind = AccessKind::store};
    (void)sm.access(store, 100, 0x10000, 4);
    EXPECT_EQ(sm.unit.state.banks_free[0], 104) << "a whole line of four sectors";
    (void)sm.access(store, 200, 0x10000, 32);
    EXPECT_EQ(sm.unit.state.banks_free[0], 240) << "32 sectors in 8 lines";
    (void)sm.access(store, 300, 0x10000, 128);
    EXPECT_EQ(sm.unit.state.banks_free[0], 364) << "32 sectors in 32 lines";
}

using LoadStore412 = LoadStoreOfHopper;
TEST_F(LoadStore412, SharedMemoryWaitsForGlobalLinesInTheSameStorage) {
    (void)sm.access({}, 100, 0x10000, 128);
    EXPECT_EQ(sm.unit.state.banks_free[0], 132) << "after 32 lines";
    EXPECT_EQ(sm.access({.space = ptx::Space::shared}, 110, 0, 4).done, 132 + 23);
    EXPECT_EQ(describe(sm.unit.state, 0),
              "load/store unit of SM 0: shared memory banks free from cycle 133; 1 requests of all SMs");
}

using LoadStore413 = LoadStoreOfHopper;
TEST_F(LoadStore413, AnL1InAStorageOfItsOwnDoesNotHoldUpSharedMemory) {
    auto machine = with_one_cache();
    machine.shared.unified_cache = {};
    Rigged apart{machine, memory};
    (void)apart.access({}, 100, 0x10000, 128);
    EXPECT_EQ(apart.unit.state.banks_free[0], 0);
    EXPECT_EQ(apart.access({.space = ptx::Space::shared}, 110, 0, 4).done, 110 + 23);
}

struct LoadStoreOfPorts : testing::Test {
    static machine::Machine described() {
        auto machine = with_one_cache();
        auto& constant = machine.paths["constant"];
        constant.access_interval.set(4.0);
        constant.transaction_interval.set(2.0);
        constant.transaction_cost.set(11.0);
        machine.paths["texture"].access_interval.set(4.0);
        machine.paths["texture"].transaction_interval.set(0.75);
        return machine;
    }
    FixedLatencyMemory memory{30};
    Rigged sm{described(), memory};
    static constexpr MemoryInstruction constant{.space = ptx::Space::constant}, texture{.texture = true};
};

using LoadStore481 = LoadStoreOfPorts;
TEST_F(LoadStore481, ConstantWordsOfAllWarpsAreServedInTurn) {
    EXPECT_EQ(sm.access(constant, 100, 0, 4).done, 100 + 31 * 11 + 30) << "for one warp they come 11 cycles apart";
    EXPECT_EQ(memory.accesses.back().when, 100 + 31 * 2);
    (void)sm.access(constant, 110, 0, 0);
    EXPECT_EQ(memory.accesses.back().when, 164) << "after the 32 words of the other warp";
    (void)sm.access(constant, 110, 0, 0);
    EXPECT_EQ(memory.accesses.back().when, 168) << "a load takes 4 cycles, even of one word";
    EXPECT_EQ(sm.unit.state.banks_free[0], 0) << "shared memory has other banks";
}

using LoadStore483 = LoadStoreOfPorts;
TEST_F(LoadStore483, UniformLoadsDoNotPassThePortOfConstants) {
    constexpr MemoryInstruction uniform{.space = ptx::Space::constant, .uniform = true};
    (void)sm.access(constant, 100, 0, 4);
    EXPECT_EQ(sm.access(uniform, 110, 0, 0).done, 110 + 30);
    (void)sm.access(constant, 110, 0, 0);
    EXPECT_EQ(memory.accesses.back().when, 164) << "and do not hold it up";
}

using LoadStore482 = LoadStoreOfPorts;
TEST_F(LoadStore482, AFetchOfTwoDimensionsTakesTwiceAsLong) {
    auto fetch = texture;
    (void)sm.access(fetch, 100, 0x1000, 4);
    fetch.fetches = 2;
    (void)sm.access(fetch, 100, 0x1000, 4);
    EXPECT_EQ(memory.accesses.back().when, 104);
    (void)sm.access(texture, 100, 0x1000, 128);
    EXPECT_EQ(memory.accesses.back().when, 112 + 31 * 0.75);
    (void)sm.access(texture, 100, 0x1000, 4);
    EXPECT_EQ(memory.accesses.back().when, 112 + 32 * 0.75) << "32 lines take longer than a fetch";
}

}  // namespace
}  // namespace gputomo::sim::test
