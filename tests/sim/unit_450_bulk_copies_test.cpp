// The unit of an SM that copies bulk data, beside a memory that always takes the same time, and fences.
#include "costs/fences.hpp"
#include "machine/json.hpp"
#include "sim/sm/load_store/bulk_copies.hpp"
#include "unit_memory.hpp"

#include <gtest/gtest.h>

namespace gputomo::sim {
namespace {

using machine_code::Transfer;

Transfer copy_of(Transfer::Kind kind, bool tensor, std::uint64_t ranges, std::uint64_t bytes) {
    Transfer transfer;
    transfer.start(kind, tensor);
    for (std::uint64_t i = 0; i < ranges; ++i) transfer.add(0x10000 + 0x1000 * i, bytes);
    transfer.bytes = ranges * bytes;
    return transfer;
}

class BulkTiming : public testing::Test {
protected:
    static constexpr double kLatency = 280;

    BulkTimes times(const Transfer& transfer, double now = 0) {
        return transfer_bulk(spec, transfer, 0, free, maps, memory, now);
    }
    costs::BulkSpec spec = costs::bulk_spec_of(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json"));
    test::FixedLatencyMemory memory{kLatency};
    double free = 0;
    TensorMaps maps;
};

TEST_F(BulkTiming, SmallCopiesTakeTheirLatency) {
    const auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    const auto latency = static_cast<double>(*machine.operations.at("cp.async.bulk").latency);
    EXPECT_NEAR(times(copy_of(Transfer::Kind::load, false, 1, 16)).done, latency, 1);
    ASSERT_EQ(memory.accesses.size(), 1U);
    EXPECT_EQ(memory.accesses[0].transaction.bytes, 32U) << "a sector";
}

TEST_F(BulkTiming, LargeCopiesTakeTheTimeOfTheirBytes) {
    constexpr std::uint64_t kBytes = 113 * 1024;
    spec.bytes_per_cycle = 113;
    const double small = times(copy_of(Transfer::Kind::load, false, 1, 16)).done;
    free = 0;
    EXPECT_NEAR(times(copy_of(Transfer::Kind::load, false, 1, kBytes)).done - small, 1024, 3);
    EXPECT_EQ(memory.accesses.size(), 1 + kBytes / 128);
}

TEST_F(BulkTiming, RowsOfABoxTakeACycleEach) {
    spec.piece = 1 / 0.97;
    const double one = times(copy_of(Transfer::Kind::load, true, 1, 16)).done;
    free = 0;
    EXPECT_NEAR(times(copy_of(Transfer::Kind::load, true, 65, 16)).done - one, 64 / 0.97, 1);
}

TEST_F(BulkTiming, TheFirstBoxOfATensorMapWaitsForIt) {
    Transfer box = copy_of(Transfer::Kind::load, true, 1, 16);
    box.map = 0x1000;
    spec.map = 0;
    const double known = times(box).done;
    spec.map = 100;
    free = 0;
    EXPECT_NEAR(times(box).done, known + 100, 1);
    EXPECT_NEAR(times(box, 1000).done, 1000 + known, 1) << "the map is there";
    box.map = 0x2000;
    EXPECT_NEAR(times(box, 2000).done, 2000 + known + 100, 1) << "another map";
    Transfer plain = copy_of(Transfer::Kind::load, false, 1, 16);
    free = 0;
    maps.clear();
    (void)times(plain);
    EXPECT_TRUE(maps.empty()) << "rows of bytes have no map";
}

TEST_F(BulkTiming, CopiesOfAnSmFollowEachOther) {
    const auto copy = copy_of(Transfer::Kind::load, false, 1, 11300);
    spec.bytes_per_cycle = 113;
    const double first = times(copy).done;
    EXPECT_NEAR(times(copy).done - first, 100, 1);
}

TEST_F(BulkTiming, StoresAreReadBeforeTheyAreDone) {
    const BulkTimes stored = times(copy_of(Transfer::Kind::store, false, 1, 32 * 100));
    EXPECT_NEAR(stored.read, 100 + spec.store_start, 1);
    EXPECT_GT(stored.done, stored.read + 200);
}

TEST_F(BulkTiming, CopiesBetweenBlocksTakeTheTimeOfStores) {
    spec.between_start = 200;
    spec.between_store_rate = 20;
    EXPECT_NEAR(times(copy_of(Transfer::Kind::between, false, 0, 0)).done, 200, 1);
    free = 0;
    Transfer copy = copy_of(Transfer::Kind::between, false, 0, 0);
    copy.bytes = 8000;
    EXPECT_NEAR(times(copy).done, 600, 1);
    EXPECT_EQ(memory.accesses.size(), 0U);
}

TEST_F(BulkTiming, WithoutLeavesACopyCostsItsLinesOnly) {
    spec = costs::bulk_spec_of({});
    EXPECT_EQ(times(copy_of(Transfer::Kind::load, false, 1, 4096)).done, kLatency);
}

// ---- fences

TEST(Fences, TakeTheTimeThatIsDescribed) {
    const auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    const costs::FenceSpec spec = costs::fence_spec_of(machine);
    ASSERT_TRUE(spec.described);
    const auto whole = static_cast<double>(*machine.operations.at("fence.acq_rel.gpu").latency);
    EXPECT_NEAR(spec.gpu + spec.errors, whole, 10);
    EXPECT_GT(spec.errors, 50);
    EXPECT_GT(spec.system, 3 * spec.gpu);
}

TEST(Fences, BeginWhenStoresAreAcknowledgedAndEndBehindLoads) {
    const costs::FenceSpec spec{.described = true, .gpu = 100, .acknowledged = 300};
    EXPECT_EQ(spec.end(spec.gpu, 1000, 0, 0), 1100) << "nothing in flight";
    EXPECT_EQ(spec.end(spec.gpu, 1000, 1250, 0), 1250) << "a load that ends later";
    EXPECT_EQ(spec.end(spec.gpu, 1000, 0, 990), 1390) << "a store that has just left";
    EXPECT_EQ(spec.end(spec.gpu, 1000, 0, 500), 1100) << "a store that has long arrived";
}

TEST(Fences, AreNotDescribedWithoutTheirLeaf) {
    EXPECT_FALSE(costs::fence_spec_of({}).described);
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    machine.operations.erase("fence.proxy.async");
    const costs::FenceSpec spec = costs::fence_spec_of(machine);
    EXPECT_EQ(spec.errors, 0) << "the whole time is that of MEMBAR";
    EXPECT_NEAR(spec.gpu, static_cast<double>(*machine.operations.at("fence.acq_rel.gpu").latency), 3);
}

}  // namespace
}  // namespace gputomo::sim
