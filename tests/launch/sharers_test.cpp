// Which lines the SMs of a GPC load together.
#include "launch/profile/sharers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace gputomo::launch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

machine::Machine two_gpcs() {
    machine::Machine m;
    m.topology.sms.set(8);
    m.topology.sms_per_tpc.set(2);
    m.topology.sms_per_gpc.set(4);
    return m;
}

TEST(BlocksOfGpc, AreThoseOfTheSameSmsModuloTheirNumber) {
    EXPECT_THAT(blocks_of_gpc(two_gpcs(), 100, 1), ElementsAre(0, 2, 3));
    EXPECT_THAT(blocks_of_gpc(two_gpcs(), 100, 13), ElementsAre(4, 6, 7)) << "block 13 runs on SM 5";
    EXPECT_THAT(blocks_of_gpc(two_gpcs(), 3, 1), ElementsAre(0, 2));
    EXPECT_THAT(blocks_of_gpc({}, 3, 1), IsEmpty());
}

TEST(BlocksOfGpc, OfASmallGridAreSpreadOverGpcs) {
    auto m = two_gpcs();
    m.launch.placement.set("gpcs");
    EXPECT_THAT(blocks_of_gpc(m, 4, 0), ElementsAre(1));
    EXPECT_THAT(blocks_of_gpc(m, 4, 3), ElementsAre(2));
}

BlockTrace loading(std::initializer_list<std::uint64_t> lines) {
    BlockTrace trace;
    for (const auto line : lines) trace.lines.push_back({.line = line, .sectors = 0xF});
    return trace;
}

TEST(Sharers, AreCountedByLineAndOnceForEachBlock) {
    std::vector<BlockTrace> blocks{loading({7, 8, 9})};
    // Sectors of lines: four each.
    const std::map<std::uint64_t, NumberSet> loaded{{1, {28, 29, 30}}, {2, {28, 32}}, {3, {}}};
    const std::vector<std::uint64_t> others{1, 2, 3};
    add_sharers(blocks, others, [&](std::uint64_t block) { return &loaded.at(block); });
    EXPECT_THAT(blocks[0].sharers, ElementsAre(3, 2, 1));
}

TEST(Sharers, OfBlocksThatWereNotExecutedAreTakenToBeAsMany) {
    std::vector<BlockTrace> blocks{loading({7, 9}), loading({1, 2, 3})};
    const NumberSet sectors{28};
    const std::vector<std::uint64_t> others{1, 2, 3};
    int executed = 0;
    add_sharers(blocks, others, [&](std::uint64_t) { return executed++ == 0 ? &sectors : nullptr; });
    EXPECT_THAT(blocks[0].sharers, ElementsAre(4, 1));
    EXPECT_THAT(blocks[1].sharers, ElementsAre(2, 2, 2)) << "requests of the first block over those that are merged";
}

TEST(Sharers, AreNotKnownWhereNoOtherBlockWasExecuted) {
    std::vector<BlockTrace> blocks{loading({7})};
    const std::vector<std::uint64_t> others{1};
    add_sharers(blocks, others, [](std::uint64_t) { return nullptr; });
    EXPECT_THAT(blocks[0].sharers, IsEmpty());
    EXPECT_EQ(blocks[0].sharers_of(0), 1);
}

}  // namespace
}  // namespace gputomo::launch
