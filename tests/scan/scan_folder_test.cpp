#include "scan/scan_folder.hpp"

#include "fakes.hpp"

#include "scan/files.hpp"
#include "scan/merge.hpp"
#include "scan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

namespace gputomo::scan {
namespace {

using ::testing::AllOf;
using testing::decided;
using ::testing::ElementsAre;
using testing::FakeExperiments;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

results::Origin origin(const std::string& date, const std::string& uuid = "GPU-1") {
    results::Origin origin{.version = "0.1.0", .commit = "abc", .command = "gputomo scan", .date = date};
    origin.gpu = results::MeasuredGpu{.name = "Some GPU", .device = "cuda:0", .uuid = uuid, .driver = "570"};
    return origin;
}

/// A scan whose experiments are done and each found one value.
Scan scan_of(const std::string& date, const std::vector<std::pair<std::string, std::int64_t>>& latencies) {
    Scan scan{.device_name = "Some GPU", .device_id = "cuda:0"};
    scan.origin = origin(date);
    for (const auto& [id, latency] : latencies) {
        auto& record = scan.records.emplace_back(Record{.id = id, .status = Status::done, .date = date});
        record.outcome.estimates = {decided("caches." + id + ".latency", latency)};
        scan.findings.add(record.outcome.estimates.front());
    }
    return scan;
}

std::vector<std::string> ids_and_dates(const Scan& scan) {
    std::vector<std::string> all;
    for (const auto& record : scan.records) all.push_back(record.id + " " + record.date);
    return all;
}

std::vector<files::NamedContent> files_of(const Scan& scan) { return {{std::string(kScanFile), to_json(scan)}}; }

TEST(Merge, ReplacesExperimentsThatWereMeasuredAgainAndKeepsTheOthers) {
    const auto both = merged(scan_of("1", {{"a", 10}, {"b", 20}}), scan_of("2", {{"b", 21}, {"c", 30}}));
    EXPECT_THAT(ids_and_dates(both), ElementsAre("a 1", "b 2", "c 2"));
    EXPECT_EQ(both.findings.number("caches.a.latency"), 10);
    EXPECT_EQ(both.findings.number("caches.b.latency"), 21);
    EXPECT_EQ(both.origin->date, "2");
    ASSERT_EQ(both.origin->merged.size(), 1U);
    EXPECT_EQ(both.origin->merged[0].date, "1");
}

TEST(Merge, NamesOnlyRunsThatStillHaveExperiments) {
    const auto once = merged(scan_of("1", {{"a", 1}, {"b", 2}}), scan_of("2", {{"b", 3}}));
    const auto twice = merged(once, scan_of("3", {{"b", 4}}));
    ASSERT_EQ(twice.origin->merged.size(), 1U);
    EXPECT_EQ(twice.origin->merged[0].date, "1");
    const auto none = merged(scan_of("1", {{"a", 1}}), scan_of("2", {{"a", 2}}));
    EXPECT_TRUE(none.origin->merged.empty());
}

TEST(Merge, AnEstimateThatTheNewRunNoLongerMakesIsGone) {
    auto again = scan_of("2", {{"a", 1}});
    again.records.front().outcome.estimates.clear();
    EXPECT_EQ(merged(scan_of("1", {{"a", 10}}), again).findings.find("caches.a.latency"), nullptr);
}

TEST(Merge, RefusesScansOfOtherGpusAndOfNoneThatIsNamed) {
    const auto other = origin("2", "GPU-2");
    EXPECT_THAT([&] { refuse_other_gpu(scan_of("1", {}), *other.gpu, "out/scan.json", "another --out"); },
                ThrowsMessage<InputError>(AllOf(StartsWith("out/scan.json: "), HasSubstr("GPU-2 instead of GPU-1"),
                                                HasSubstr("expected another --out"))));
    EXPECT_NO_THROW(refuse_other_gpu(scan_of("1", {}), *origin("2").gpu, "out/scan.json", "another --out"));
    auto old = scan_of("1", {});
    old.origin.reset();
    EXPECT_THAT([&] { refuse_other_gpu(old, *other.gpu, "out/scan.json", "another --out"); },
                ThrowsMessage<InputError>(HasSubstr("does not say which Some GPU")));
}

TEST(Resume, RefusesOtherOptionsAndAPlanThatWouldLoseResults) {
    const std::vector<experiments::Experiment> catalogue{FakeExperiments::make('a'), FakeExperiments::make('b')};
    auto interrupted = scan_of("1", {{"a", 10}, {"b", 20}});
    const auto refused = [&](const std::vector<std::string>& only, const Options& options, const std::string& why) {
        EXPECT_THAT([&] { refuse_to_resume(interrupted, plan(catalogue, only), options, "out/partial/scan.json"); },
                    ThrowsMessage<InputError>(AllOf(StartsWith("out/partial/scan.json: "), HasSubstr(why))));
    };
    refused({"a", "b"}, {.seed = 2}, "measured with --seed 1 --noise 0; expected");
    refused({"a", "b"}, {.quick = true}, "measured with --seed 1 --noise 0; expected");
    refused({"a", "b"}, {.noise = 2}, "measured with --seed 1 --noise 0; expected");
    refused({"a"}, {}, "leaves out: b;");
    EXPECT_NO_THROW(refuse_to_resume(interrupted, plan(catalogue, {"b", "a"}), {}, "out/partial/scan.json"));
    interrupted.records.back().status = Status::interrupted;
    EXPECT_NO_THROW(refuse_to_resume(interrupted, plan(catalogue, {"a"}), {}, "out/partial/scan.json"));
}

TEST(Resume, RunsOnlyWhatIsNotDone) {
    std::string ran;
    for (const char letter : {'a', 'b', 'c'})
        FakeExperiments::body(letter, [&ran, letter](experiments::Context&) {
            ran += letter;
            return results::Outcome{.estimates = {decided("shared.latency", std::int64_t{letter})}};
        });
    const std::vector<experiments::Experiment> catalogue{FakeExperiments::make('a'), FakeExperiments::make('b'),
                                                         FakeExperiments::make('c')};
    auto earlier = scan_of("1", {{"a", 10}, {"b", 20}});
    earlier.records[1].status = Status::interrupted;
    testing::LosableDevice device;
    Options options{.origin = origin("2")};
    options.earlier = earlier.records;
    auto scan = run(device, plan(catalogue, {"a", "b", "c"}), options);
    EXPECT_EQ(ran, "bc");
    EXPECT_THAT(ids_and_dates(scan), ElementsAre("a 1", "b 2", "c 2"));
    EXPECT_EQ(scan.findings.number("caches.a.latency"), 10);
    add_earlier_runs(scan, earlier.origin);
    EXPECT_EQ(scan.origin->merged.at(0).date, "1");
}

class FolderOfScan : public ::testing::Test {
public:
    FolderOfScan() : folder(fs::path(::testing::TempDir()) / ("gputomo_folder_of_scan" + std::to_string(getpid()))) {
        fs::remove_all(folder);
    }
    ~FolderOfScan() override { fs::remove_all(folder); }

protected:
    fs::path folder;
};

TEST(WholeScan, EndsByItselfAndHasAllExperimentsThatAreMerged) {
    struct Case {
        Status status;
        bool whole, whole_where_merged;
    };
    using enum Status;
    for (const auto& [status, whole, whole_where_merged] :
         {Case{done, true, true}, Case{failed, true, false}, Case{skipped, true, false},
          Case{device_failed, false, false}, Case{timed_out, false, false}, Case{interrupted, false, false}}) {
        auto scan = scan_of("1", {{"a", 1}, {"b", 2}});
        scan.records.back().status = status;
        EXPECT_EQ(is_whole(scan, false), whole) << status_name(status);
        EXPECT_EQ(is_whole(scan, true), whole_where_merged) << status_name(status);
    }
}

TEST_F(FolderOfScan, KeepsTheWholeScanWhileAnotherIsInterrupted) {
    const ScanFolder scans(folder, "test");
    EXPECT_FALSE(scans.whole_scan());
    EXPECT_FALSE(scans.interrupted_scan());
    scans.save_whole(files_of(scan_of("1", {{"a", 10}})));
    scans.save_partial(files_of(scan_of("2", {{"b", 20}})));
    EXPECT_THAT(ids_and_dates(*scans.whole_scan()), ElementsAre("a 1"));
    EXPECT_THAT(ids_and_dates(*scans.interrupted_scan()), ElementsAre("b 2"));
    scans.save_whole(files_of(scan_of("3", {{"c", 30}})));
    EXPECT_THAT(ids_and_dates(*scans.whole_scan()), ElementsAre("c 3"));
    EXPECT_FALSE(fs::exists(scans.partial()));
}

TEST_F(FolderOfScan, SetsEachInterruptedScanAsideUnderItsDate) {
    const ScanFolder scans(folder, "test");
    EXPECT_EQ(scans.set_interrupted_aside(), "");
    for (const char* name : {"partial-20261123T104449Z", "partial-20261123T104449Z-2"}) {
        scans.save_partial(files_of(scan_of("2026-11-23T10:44:49Z", {{"a", 1}})));
        EXPECT_EQ(scans.set_interrupted_aside(), folder / name);
        EXPECT_TRUE(fs::exists(folder / name / kScanFile));
        EXPECT_FALSE(fs::exists(scans.partial()));
    }
    fs::create_directories(scans.partial());
    std::ofstream(scans.partial() / kScanFile) << "damaged";
    EXPECT_EQ(scans.set_interrupted_aside(), folder / "partial-earlier");
}

TEST_F(FolderOfScan, RefusesFilesThatDoNotBelongTogether) {
    const ScanFolder scans(folder, "test");
    scans.save_whole(files_of(scan_of("1", {{"a", 10}})));
    std::ofstream(folder / kScanFile) << to_json(scan_of("2", {{"a", 11}}));
    EXPECT_THAT([&] { (void)scans.whole_scan(); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("scan.json: does not fit"), HasSubstr("another folder"))));
}

TEST_F(FolderOfScan, RefusesADescriptionWithoutTheScanItComesFrom) {
    const ScanFolder scans(folder, "test");
    std::ofstream(folder / kMachineFile) << "{}";
    EXPECT_THAT([&] { (void)scans.whole_scan(); }, ThrowsMessage<InputError>(HasSubstr("no scan.json")));
}

TEST_F(FolderOfScan, RefusesAFolderInPlaceOfOneOfItsFilesBeforeTheMeasurement) {
    for (const auto name : {kMachineFile, kScanFile, kReportFile}) {
        fs::create_directories(folder / name);
        EXPECT_THAT([&] { ScanFolder(folder, "test"); },
                    ThrowsMessage<InputError>(AllOf(HasSubstr(std::string(name)), HasSubstr("it is a folder"))));
        fs::remove_all(folder);
    }
}

TEST_F(FolderOfScan, IsLockedAsLongAsAScanWritesToIt) {
    {
        const ScanFolder scans(folder, "gputomo scan --out here");
        EXPECT_THAT([&] { ScanFolder(folder, "second"); },
                    ThrowsMessage<InputError>(HasSubstr("gputomo scan --out here")));
    }
    EXPECT_NO_THROW(ScanFolder(folder, "second"));
}

}  // namespace
}  // namespace gputomo::scan
