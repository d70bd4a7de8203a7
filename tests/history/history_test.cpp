#include "history/history.hpp"

#include "history/fleet.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gputomo::history {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

class HistoryFile : public testing::Test {
protected:
    HistoryFile() { fs::remove(file_); }
    ~HistoryFile() override { fs::remove(file_); }
    const fs::path file_ = fs::path(testing::TempDir()) / ("history" + std::to_string(getpid()) + ".sqlite");
};

/// A description with one latency, whose interval is half a cycle to each side.
machine::Machine gpu(std::int64_t latency, const std::string& policy = "lru") {
    machine::Machine m;
    m.identity.name.set("Some GPU", {.source = "made up"});
    m.shared.latency.set(latency,
                         {.method = "chase", .confidence = 0.99, .interval = {{latency - 0.5, latency + 0.5}}});
    m.caches["l1"].policy.set(policy, {.source = "made up"});
    return m;
}

TEST_F(HistoryFile, KeepsScansInTheOrderOfTheirTimes) {
    {
        History history(file_);
        history.add(gpu(23), {"a", "2026-02-01T00:00:00Z"});
        history.add(gpu(22), {"a", "2026-01-01T00:00:00Z"});
    }
    const History again(file_, true);
    const auto entries = again.entries();
    ASSERT_THAT(entries, SizeIs(2));
    EXPECT_EQ(entries[0].time, "2026-01-01T00:00:00Z");
    EXPECT_EQ(entries[1].kind, "Some GPU");
    EXPECT_EQ(*again.machine(entries[0].id).shared.latency, 22);
    EXPECT_EQ(again.machine(entries[0].id).shared.latency.provenance.interval->at(1), 22.5);
}

TEST_F(HistoryFile, SeriesHasALeafOverTime) {
    History history(file_);
    history.add(gpu(23), {"b", "2026-02-01T00:00:00Z"});
    history.add(gpu(25), {"a", "2026-03-01T00:00:00Z"});
    history.add(gpu(24), {"a", "2026-01-01T00:00:00Z"});
    const auto series = history.series("shared.latency");
    ASSERT_THAT(series, SizeIs(3));
    EXPECT_EQ(std::get<std::int64_t>(series[0].leaf.value), 24);
    EXPECT_EQ(std::get<std::int64_t>(series[1].leaf.value), 25);
    EXPECT_EQ(series[2].entry.specimen, "b");
    EXPECT_THAT(history.series("shared.banks"), IsEmpty());
}

TEST_F(HistoryFile, ChangesAreBetweenTheLastTwoScansOfOneSpecimen) {
    History history(file_);
    history.add(gpu(30), {"a", "2026-01-01T00:00:00Z"});
    history.add(gpu(23), {"a", "2026-02-01T00:00:00Z"});
    history.add(gpu(23, "fifo"), {"a", "2026-03-01T00:00:00Z"});
    history.add(gpu(99), {"b", "2026-04-01T00:00:00Z"});
    const auto changes = history.changes();
    ASSERT_THAT(changes, SizeIs(1));
    ASSERT_THAT(changes[0].diff.differing, SizeIs(1));
    EXPECT_EQ(changes[0].diff.differing[0].path, "caches.l1.policy");
}

TEST_F(HistoryFile, EachOutlierIsReportedOnceWithTheFleetsValue) {
    History history(file_);
    for (const char* specimen : {"a", "b", "c", "d"}) history.add(gpu(23), {specimen, "2026-01-01T00:00:00Z"});
    history.add(gpu(31, "random"), {"sick", "2026-01-01T00:00:00Z"});
    const auto outliers = history.outliers();
    ASSERT_THAT(outliers, SizeIs(2));
    EXPECT_EQ(outliers[0].path, "caches.l1.policy");
    EXPECT_EQ(outliers[0].fleet, "lru (4 of 4 specimens)");
    EXPECT_EQ(outliers[1].path, "shared.latency");
    EXPECT_EQ(outliers[1].entry.specimen, "sick");
    EXPECT_EQ(outliers[1].fleet, "23 +- 0.5 (4 specimens)");
}

TEST_F(HistoryFile, OnlyTheLastScanOfASpecimenCounts) {
    History history(file_);
    for (const char* specimen : {"a", "b", "c"}) history.add(gpu(23), {specimen, "2026-01-01T00:00:00Z"});
    history.add(gpu(31), {"c", "2025-01-01T00:00:00Z"});
    EXPECT_THAT(history.outliers(), IsEmpty());
}

TEST_F(HistoryFile, TwoSpecimensHaveNoOutliers) {
    History history(file_);
    history.add(gpu(23), {"a", "2026-01-01T00:00:00Z"});
    history.add(gpu(31), {"b", "2026-01-01T00:00:00Z"});
    EXPECT_THAT(history.outliers(), IsEmpty());
}

machine::Leaf leaf(double value, double half_width) {
    return {.knowledge = machine::Knowledge::known,
            .value = value,
            .candidates = {},
            .provenance = {.interval = {{value - half_width, value + half_width}}}};
}

TEST(Fleet, TheEdgeOfAWideFleetIsNoOutlier) {
    EXPECT_FALSE(
        unlike_others(leaf(104, 0.1), std::vector{leaf(100, 0.1), leaf(102, 0.1), leaf(98, 0.1), leaf(103, 0.1)}));
    EXPECT_TRUE(
        unlike_others(leaf(104, 0.1), std::vector{leaf(100, 0.1), leaf(100.1, 0.1), leaf(99.9, 0.1), leaf(100, 0.1)}));
}

TEST(Fleet, AWideIntervalIsNoOutlier) {
    EXPECT_FALSE(unlike_others(leaf(104, 5), std::vector{leaf(100, 0.1), leaf(100, 0.1), leaf(100, 0.1)}));
}

TEST(Fleet, AValueThatTheOthersLackIsAnOutlier) {
    const machine::Leaf absent{.knowledge = machine::Knowledge::absent};
    EXPECT_TRUE(unlike_others(leaf(5, 0), std::vector{absent, absent, absent}));
    EXPECT_TRUE(unlike_others(absent, std::vector{leaf(5, 0), leaf(5, 0), leaf(5, 0)}));
    EXPECT_FALSE(unlike_others(absent, std::vector{absent, absent}));
}

TEST_F(HistoryFile, RefusesDuplicatesAndFaultyTimes) {
    History history(file_);
    history.add(gpu(1), {"a", "2026-01-01T00:00:00Z"});
    EXPECT_THAT(
        [&] {
            history.add(gpu(2), {"a", "2026-01-01T00:00:00Z"});
        },
        ThrowsMessage<InputError>(HasSubstr("already has a scan of")));
    EXPECT_THAT(
        [&] {
            history.add(gpu(2), {"a", "yesterday"});
        },
        ThrowsMessage<InputError>(HasSubstr("expected UTC as")));
    EXPECT_THAT([&] { history.add(gpu(2), {"", ""}); }, ThrowsMessage<InputError>(HasSubstr("without a specimen")));
    EXPECT_THAT([&] { (void)history.machine(77); }, ThrowsMessage<InputError>(HasSubstr("no scan 77")));
}

TEST_F(HistoryFile, RefusesFilesThatAreNoHistory) {
    EXPECT_THAT([&] { History missing(file_, true); }, ThrowsMessage<InputError>(HasSubstr("no such file")));
    std::ofstream(file_) << "this is not a database, however long one makes it; it goes on for more than a header of "
                            "one hundred bytes and then some\n";
    EXPECT_THAT([&] { History text(file_); }, ThrowsMessage<InputError>(HasSubstr("expected a history file")));
}

}  // namespace
}  // namespace gputomo::history
