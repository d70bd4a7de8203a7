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

/// A block whose warps load the lines in the given order, one with each access.
BlockTrace loading(std::initializer_list<std::vector<std::uint64_t>> warps) {
    BlockTrace trace;
    for (const auto& lines : warps) {
        auto& events = trace.warps.emplace_back();
        for (const auto line : lines) {
            events.push_back({.access = static_cast<std::uint32_t>(trace.accesses.size())});
            trace.accesses.push_back({.first = static_cast<std::uint32_t>(trace.lines.size()), .lines = 1});
            trace.lines.push_back({.line = line, .sectors = 0xF});
        }
    }
    return trace;
}

TEST(Sharers, AreCountedByLineAndOnceForEachBlock) {
    std::vector<BlockTrace> blocks{loading({{7, 8, 9}})};
    const std::map<std::uint64_t, BlockTrace> loaded{
        {1, loading({{7, 2, 3}})}, {2, loading({{7, 8, 4}})}, {3, loading({{}})}};
    const std::vector<std::uint64_t> others{1, 2, 3};
    add_sharers(blocks, others, [&](std::uint64_t block) { return &loaded.at(block); });
    EXPECT_THAT(blocks[0].sharers, ElementsAre(3, 2, 1));
}

TEST(Sharers, LoadALineAtTheSameMoment) {
    // The other block loads line 7 by another warp, line 8 with a later access, and line 9 as this one does.
    std::vector<BlockTrace> blocks{loading({{7, 8}, {1, 9}})};
    const BlockTrace other = loading({{3, 2, 8}, {7, 9}});
    const std::vector<std::uint64_t> others{1};
    add_sharers(blocks, others, [&](std::uint64_t) { return &other; });
    EXPECT_THAT(blocks[0].sharers, ElementsAre(1, 1, 1, 2));
}

TEST(Sharers, OfBlocksThatWereNotExecutedAreTakenToBeAsMany) {
    std::vector<BlockTrace> blocks{loading({{7, 9}}), loading({{1, 2, 3}})};
    const BlockTrace loads = loading({{7}});
    const std::vector<std::uint64_t> others{1, 2, 3};
    int executed = 0;
    add_sharers(blocks, others, [&](std::uint64_t) { return executed++ == 0 ? &loads : nullptr; });
    EXPECT_THAT(blocks[0].sharers, ElementsAre(4, 1));
    EXPECT_THAT(blocks[1].sharers, ElementsAre(2, 2, 2)) << "requests of the first block over those that are merged";
}

TEST(Sharers, AreNotKnownWhereNoOtherBlockWasExecuted) {
    std::vector<BlockTrace> blocks{loading({{7}})};
    const std::vector<std::uint64_t> others{1};
    add_sharers(blocks, others, [](std::uint64_t) { return nullptr; });
    EXPECT_THAT(blocks[0].sharers, IsEmpty());
    EXPECT_EQ(blocks[0].sharers_of(0), 1);
}

}  // namespace
}  // namespace gputomo::launch
