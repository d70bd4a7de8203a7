#include "scan/files.hpp"

#include "fakes.hpp"

#include "machine/json.hpp"
#include "measure/throughput/operations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

namespace gputomo::scan {
namespace {

using ::testing::AllOf;
using testing::decided;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

TEST(Description, AcceptsTheNameOfEveryTimedOperation) {
    machine::Machine machine;
    for (const auto& operation : measure::all_operations())
        machine.operations[std::string(operation.name)].latency.set(4, {.method = "made up"});
    EXPECT_EQ(machine::from_json(machine::to_json(machine)).operations.size(), measure::all_operations().size());
}

class FolderTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        folder = fs::path(::testing::TempDir()) /
                 (std::string("gputomo_") + test->test_suite_name() + "_" + test->name() + std::to_string(getpid()));
        fs::remove_all(folder);
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }
    fs::path folder;
};

results::Estimate undecided(std::string path, std::vector<results::Value> candidates) {
    auto e = decided(std::move(path), std::int64_t{});
    e.knowledge = results::Knowledge::undecided;
    e.candidates = std::move(candidates);
    return e;
}

Record measured() {
    Record record{.id = "a", .status = Status::done, .seconds = 1.25};
    auto& out = record.outcome;
    out.estimates = {decided("shared.latency", std::int64_t{38}),
                     decided("clock.sm_mhz", 1300.0),
                     decided("clock.scope", std::string("tpc <&> \"quoted\"")),
                     decided("shared.bank_modes", std::vector<std::int64_t>{4, 8}),
                     decided("caches.l1.way_odds", std::vector<double>{1.0, 2.0}),
                     decided("paths.global.caches", std::vector<std::string>{"l1", "l2"}),
                     decided("paths.texture.caches", std::vector<std::string>{}),
                     decided("caches.l1.set_ways", std::vector<std::int64_t>{}),
                     decided("caches.l2.way_odds", std::vector<double>{}),
                     undecided("caches.l1.ways", {std::int64_t{4}, std::int64_t{8}}),
                     undecided("paths.constant.caches", {std::vector<std::string>{}, std::vector<std::string>{"c1"}})};
    out.estimates.front().interval = {37.5, 38.5};
    out.estimates.front().note = "by one warp";
    auto& gone = out.estimates.emplace_back(decided("caches.l3.capacity", std::int64_t{}));
    gone.knowledge = results::Knowledge::absent;
    out.traces = {{"a/levels",
                   "a",
                   {{"size", "bytes", {1, 2, 3}}, {"latency", "cycles", {0.1, 1.0 / 3, 1e300}}},
                   {"Title", "size", {"latency"}, true, false, "", "latency"}},
                  {"a/empty", "a", {{"size", "", {}}}, {}}};
    using enum results::CodeResult;
    out.code_checks = {{"chase", failed, "8 x LD", "7 x LD", "LD R0\nEXIT"},
                       {"loop", passed, "BRA", "BRA", ""},
                       {"spin", unavailable, "BRA", "the device has no machine code", ""}};
    out.warnings = {"the clock moved"};
    return record;
}

Scan example() {
    Scan scan{.device_name = "GeForce \"X\"", .device_id = "cuda:0", .seed = UINT64_MAX, .quick = true};
    scan.records = {measured(),
                    {.id = "b", .status = Status::device_failed, .error = "cuLaunchKernel: no"},
                    {.id = "c", .error = "needs b, which did not finish"}};
    for (const auto& e : scan.records.front().outcome.estimates) scan.findings.add(e);
    return scan;
}

TEST(ScanJson, ReadsBackWhatItWrote) {
    const auto scan = example();
    const auto text = to_json(scan);
    const auto back = scan_from_json(text);
    EXPECT_EQ(to_json(back), text);
    EXPECT_EQ(back.device_name, scan.device_name);
    EXPECT_EQ(back.device_id, scan.device_id);
    EXPECT_EQ(back.seed, scan.seed);
    EXPECT_TRUE(back.quick);
    ASSERT_EQ(back.records.size(), 3U);
    EXPECT_EQ(back.records[1].status, Status::device_failed);
    EXPECT_EQ(back.records[1].error, "cuLaunchKernel: no");
    EXPECT_EQ(back.records[2].status, Status::skipped);
    const auto& was = scan.records[0].outcome.estimates;
    const auto& is = back.records[0].outcome.estimates;
    ASSERT_EQ(is.size(), was.size());
    for (std::size_t i = 0; i < was.size(); ++i) {
        SCOPED_TRACE(was[i].path);
        EXPECT_EQ(is[i].path, was[i].path);
        EXPECT_EQ(is[i].knowledge, was[i].knowledge);
        EXPECT_TRUE(was[i].knowledge != results::Knowledge::known || is[i].value == was[i].value);
        EXPECT_EQ(is[i].candidates, was[i].candidates);
        EXPECT_EQ(is[i].method, was[i].method);
        EXPECT_EQ(is[i].confidence, was[i].confidence);
        EXPECT_EQ(is[i].interval, was[i].interval);
        EXPECT_EQ(is[i].note, was[i].note);
    }
    const auto& trace = back.records[0].outcome.traces.at(0);
    EXPECT_EQ(trace.columns.at(1).unit, "cycles");
    EXPECT_THAT(trace.columns.at(1).values, ElementsAre(0.1, 1.0 / 3, 1e300));
    EXPECT_EQ(trace.plot.x, "size");
    EXPECT_TRUE(trace.plot.log_x);
    EXPECT_EQ(trace.plot.shade, "latency");
    EXPECT_EQ(trace.plot.until, "");
    EXPECT_EQ(back.records[0].outcome.code_checks.at(0).listing, "LD R0\nEXIT");
    EXPECT_EQ(back.records[0].outcome.code_checks.at(0).result, results::CodeResult::failed);
    EXPECT_EQ(back.records[0].outcome.code_checks.at(1).result, results::CodeResult::passed);
    EXPECT_EQ(back.records[0].outcome.code_checks.at(2).result, results::CodeResult::unavailable);
    EXPECT_THAT(back.records[0].outcome.warnings, ElementsAre("the clock moved"));
}

TEST(ScanJson, ReadsBackEveryStatus) {
    for (const auto status : {Status::done, Status::failed, Status::device_failed, Status::timed_out, Status::skipped,
                              Status::interrupted}) {
        Scan scan;
        scan.records = {{.id = "a", .status = status}};
        EXPECT_EQ(scan_from_json(to_json(scan)).records.at(0).status, status) << status_name(status);
    }
}

TEST(ScanJson, MakesTheSameDescriptionAgain) {
    const auto scan = example();
    EXPECT_EQ(machine::to_json(describe(scan_from_json(to_json(scan)))), machine::to_json(describe(scan)));
}

TEST(ScanJson, ReadsNanSamplesBackAsNan) {
    Scan scan;
    scan.records = {{.id = "a", .status = Status::done}};
    scan.records[0].outcome.traces = {{"a/t", "a", {{"x", "", {1, std::numeric_limits<double>::quiet_NaN(), 3}}}, {}}};
    const auto values = scan_from_json(to_json(scan)).records.at(0).outcome.traces.at(0).columns.at(0).values;
    ASSERT_EQ(values.size(), 3U);
    EXPECT_EQ(values[0], 1);
    EXPECT_TRUE(std::isnan(values[1]));
    EXPECT_EQ(values[2], 3);
}

TEST(ScanJson, ReplacesBytesThatAreNotUtf8) {
    Scan scan{.device_name = "caf\xe9"};
    EXPECT_THAT(scan_from_json(to_json(scan)).device_name, StartsWith("caf"));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << "no " << from << " in " << text;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(ScanJson, NamesTheFieldOfABrokenFile) {
    struct Case {
        const char *from, *to, *field, *expected;
    };
    const Case cases[] = {
        {R"("schema":"gputomo-scan-1")", R"("schema":"gputomo-scan-9")", "schema: ", "gputomo-scan-1"},
        {R"("schema":"gputomo-scan-1",)", "", "schema: ", "missing"},
        {R"("id":"cuda:0")", R"("id":0)", "device.id: ", "a string"},
        {R"("seed":18446744073709551615)", R"("seed":-1)", "options.seed: ", "not negative"},
        {R"("quick":true)", R"("quick":"yes")", "options.quick: ", "true or false"},
        {R"("status":"done")", R"("status":"finished")", "experiments[0].status: ", "done, failed"},
        {R"("seconds":1.25)", R"("seconds":null)", "experiments[0].seconds: ", "a number"},
        {R"("error":"cuLaunchKernel: no")", R"("error":[])", "experiments[1].error: ", "a string"},
        {R"("path":"shared.latency",)", "", "experiments[0].estimates[0].path: ", "missing"},
        {R"("verdict":"absent")", R"("verdict":"maybe")",
         "experiments[0].estimates[11].verdict: ", "decided, absent or undecided"},
        {R"("value":38)", R"("value":[1,"two"])",
         "experiments[0].estimates[0].value: ", "a list of numbers or strings"},
        {R"("value":38)", R"("value":[])", "experiments[0].estimates[0].value: ", "a list of numbers or strings"},
        {R"("value":38,)", R"("value":[38],)",
         "experiments[0].estimates[0].path: ", "a leaf of a machine description, and a value of its type"},
        {R"("path":"shared.latency",)", R"("path":"shared.delay",)",
         "experiments[0].estimates[0].path: ", "a leaf of a machine description, and a value of its type"},
        {R"("value":38,)", "", "experiments[0].estimates[0].value: ", "missing"},
        {R"({"empty":"strings"})", R"({"empty":"things"})", "experiments[0].estimates[6].value.empty: ", "strings"},
        {R"([37.5,38.5])", "[37.5]", "experiments[0].estimates[0].interval: ", "[low, high]"},
        {R"("values":[1.0,2.0,3.0])", R"("values":[1.0,"x",3.0])",
         "experiments[0].traces[0].columns[0].values[1]: ", "a number"},
        {R"("y":["latency"])", R"("y":"latency")", "experiments[0].traces[0].plot.y: ", "a list"},
        {R"("result":"failed")", R"("result":"perhaps")",
         "experiments[0].code_checks[0].result: ", "passed, failed or unavailable"},
        {R"("warnings":["the clock moved"])", R"("warnings":[1])", "experiments[0].warnings[0]: ", "a string"},
    };
    const auto text = to_json(example());
    for (const auto& one : cases) {
        SCOPED_TRACE(one.to);
        const auto broken = replaced(text, one.from, one.to);
        EXPECT_THAT(
            [&] { (void)scan_from_json(broken, "x.json"); },
            ThrowsMessage<InputError>(AllOf(StartsWith(std::string("x.json: ") + one.field), HasSubstr(one.expected))));
    }
}

TEST(ScanJson, RefusesWhatIsNoJsonObject) {
    for (const char* text : {"", "{", "\xff", "{\"schema\":\"gputomo-scan-1\""})
        EXPECT_THAT([&] { (void)scan_from_json(text, "x.json"); },
                    ThrowsMessage<InputError>(AllOf(StartsWith("x.json: "), HasSubstr("not JSON: "))))
            << text;
    for (const char* text : {"[]", "null", "3"})
        EXPECT_THAT([&] { (void)scan_from_json(text, "x.json"); },
                    ThrowsMessage<InputError>(HasSubstr("expected an object")))
            << text;
}

class LoadScan : public FolderTest {};
TEST_F(LoadScan, NamesAMissingFile) {
    EXPECT_THAT([&] { (void)load_scan(folder / "none.json"); }, ThrowsMessage<InputError>(HasSubstr("none.json")));
    EXPECT_THAT([&] { (void)load_scan(folder); },
                ThrowsMessage<InputError>(AllOf(StartsWith(folder.string()), HasSubstr("is a folder"))));
}

TEST_F(LoadScan, ReadsAFileThatWasWritten) {
    std::ofstream(folder / "scan.json", std::ios::binary) << to_json(example());
    EXPECT_EQ(to_json(load_scan(folder / "scan.json")), to_json(example()));
}

}  // namespace
}  // namespace gputomo::scan
