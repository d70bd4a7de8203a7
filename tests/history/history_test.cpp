#include "history/history.hpp"

#include "history/fleet.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <tuple>
#include <utility>
#include <vector>

namespace gputomo::history {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
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
    const auto cycles = static_cast<double>(latency);
    m.shared.latency.set(latency, {.method = "chase", .confidence = 0.99, .interval = {{cycles - 0.5, cycles + 0.5}}});
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

/// A description with a bandwidth, without an interval.
machine::Machine gpu_with_bandwidth(double gigabytes_per_second) {
    machine::Machine m;
    m.identity.name.set("Some GPU", {.source = "made up"});
    m.memory.read_bandwidth.set(gigabytes_per_second, {.method = "stream", .confidence = 0.9});
    return m;
}

/// The differences between the last two scans that count and those that do not.
std::pair<std::size_t, std::size_t> changes_of(const fs::path& file, const std::vector<machine::Machine>& scans) {
    fs::remove(file);
    History history(file);
    int day = 10;
    for (const auto& scan : scans) history.add(scan, {"a", fmt::format("2026-01-{}T00:00:00Z", day++)});
    const auto change = history.changes().at(0);
    return {change.diff.differing.size(), change.repeatable.size()};
}

TEST_F(HistoryFile, AStepAsSmallAsThoseBetweenEarlierScansIsNoChange) {
    using Counts = std::pair<std::size_t, std::size_t>;
    const auto of = [&](const std::vector<double>& values) {
        std::vector<machine::Machine> scans;
        for (const double value : values) scans.push_back(gpu_with_bandwidth(value));
        return changes_of(file_, scans);
    };
    EXPECT_EQ(of({4000, 4001.2}), Counts(0, 1)) << "0.03%";
    EXPECT_EQ(of({4000, 3900}), Counts(0, 1)) << "the second scan: less than healthy scans differ by";
    EXPECT_EQ(of({4000, 3800}), Counts(1, 0));
    EXPECT_EQ(of({4000, 4001, 3999, 3900}), Counts(1, 0)) << "this GPU repeats better than that";
    EXPECT_EQ(of({4000, 4080, 4010, 3900}), Counts(0, 1)) << "this one does not";
    EXPECT_EQ(of({4000, 4001, 3000, 3001, 3000, 3100}), Counts(1, 0)) << "an earlier change does not hide another";
}

TEST_F(HistoryFile, OtherSpecimensOfTheKindSayHowWellItRepeats) {
    History history(file_);
    for (const auto& [value, specimen, time] : {std::tuple{4000.0, "b", "2026-01-01T00:00:00Z"},
                                                {4080.0, "b", "2026-01-02T00:00:00Z"},
                                                {4000.0, "a", "2026-01-01T00:00:00Z"},
                                                {4300.0, "a", "2026-01-02T00:00:00Z"}})
        history.add(gpu_with_bandwidth(value), {specimen, time});
    for (const auto& change : history.changes()) EXPECT_THAT(change.diff.differing, IsEmpty()) << change.after.specimen;
}

TEST_F(HistoryFile, AValueThatTheSpecimenHadBeforeIsNoChange) {
    using Counts = std::pair<std::size_t, std::size_t>;
    EXPECT_EQ(changes_of(file_, {gpu(23, "lru"), gpu(23, "fifo"), gpu(23, "lru")}), Counts(0, 1));
    EXPECT_EQ(changes_of(file_, {gpu(23, "lru"), gpu(23, "lru"), gpu(23, "fifo")}), Counts(1, 0));
}

TEST_F(HistoryFile, RefusesASpecimenThatIsNotUtf8) {
    History history(file_);
    for (const char* bad : {"\xff", "caf\xe9", "\xc0\xaf", "\xed\xa0\x80"})
        EXPECT_THAT(
            [&] {
                history.add(gpu(1), {bad, "2026-01-01T00:00:00Z"});
            },
            ThrowsMessage<InputError>(HasSubstr("not UTF-8")));
    EXPECT_NO_THROW(history.add(gpu(1), {"caf\xc3\xa9", "2026-01-01T00:00:00Z"}));
    EXPECT_THAT(history.entries(), SizeIs(1));
}

TEST_F(HistoryFile, RefusesASpecimenThatWouldBreakATable) {
    History history(file_);
    for (const char* bad : {"two\nlines", "a\tb", "\x1b[31mred", "\x7f"})
        EXPECT_THAT(
            [&] {
                history.add(gpu(1), {bad, "2026-01-01T00:00:00Z"});
            },
            ThrowsMessage<InputError>(HasSubstr("control characters; expected a name in one line")));
    EXPECT_THAT(history.entries(), SizeIs(0));
}

TEST_F(HistoryFile, NamesThatSqliteTreatsApartAreFiles) {
    EXPECT_THAT([&] { History nameless(""); }, ThrowsMessage<InputError>(HasSubstr("expected the name of a file")));
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(file_.parent_path());
    History(":memory:").add(gpu(1), {"a", "2026-01-01T00:00:00Z"});
    EXPECT_THAT(History(":memory:", true).entries(), SizeIs(1));
    std::filesystem::remove(":memory:");
    std::filesystem::current_path(here);
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
    EXPECT_THAT([&] { History text(file_); },
                ThrowsMessage<InputError>(
                    AllOf(HasSubstr("is no history; expected a history file"), Not(HasSubstr("PRAGMA")))));
}

}  // namespace
}  // namespace gputomo::history
