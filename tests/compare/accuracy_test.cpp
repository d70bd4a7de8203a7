// Suites, and the score of simulations over their entries.
#include "compare/suites/accuracy.hpp"
#include "compare/suites/accuracy_json.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>

namespace gputomo::compare {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Scored entry(const std::string& name, double measured) {
    Scored one;
    one.entry.suite = "s";
    one.entry.name = name;
    one.entry.counters = {{kCyclesCounter, measured},
                          {"smsp__inst_executed.sum", 200},
                          {"dram__bytes_read.sum", 100},
                          {"dram__bytes_write.sum", 300}};
    return one;
}

Scored scored(const std::string& name, double measured, double cycles, const std::string& failure = "") {
    Scored one = entry(name, measured);
    one.answer(Method::simulation) = {.failure = failure, .cycles = cycles, .instructions = 210, .dram_bytes = 200};
    return one;
}

AccuracyOrigin origin() {
    return {.version = "1", .commit = "c", .device = "sim:x", .gpu = "x", .seed = 1, .sample_above = 5};
}

TEST(Accuracy, AFailureCountsAsAHundredPercent) {
    std::vector<Scored> all{scored("a", 1000, 1100), scored("b", 1000, 800), scored("c", 1000, 1050),
                            scored("d", 1000, 0, "refused")};
    const auto accuracy = accuracy_of(all, Method::simulation);
    EXPECT_EQ(accuracy.entries, 4U);
    EXPECT_EQ(accuracy.answered, 3U);
    EXPECT_DOUBLE_EQ(accuracy.mean, (0.1 + 0.2 + 0.05 + 1) / 4);
    EXPECT_DOUBLE_EQ(accuracy.median, 0.1);
    EXPECT_DOUBLE_EQ(accuracy.percentile_90, 1);
    EXPECT_NEAR(accuracy.mean_of_answered, 0.35 / 3, 1e-12);
    all.push_back(scored("e", 1000, 9000));
    all.back().entry.async = true;
    EXPECT_EQ(accuracy_of(all, Method::simulation).entries, 4U)
        << "asynchronous matrix instructions are reported apart";
    EXPECT_EQ(accuracy_of(all, Method::prediction).entries, 0U) << "no prediction was asked for";
    EXPECT_EQ(accuracy_of({}, Method::simulation).mean, 0);
}

TEST(Accuracy, JudgesTheLimiterOfPredictions) {
    EXPECT_EQ(measured_limiter(entry("a", 1).entry), std::nullopt);
    std::vector<Scored> all{entry("a", 1000), entry("b", 1000)};
    for (auto& one : all) {
        one.entry.counters["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"] = 61;
        one.entry.counters["lts__throughput.avg.pct_of_peak_sustained_elapsed"] = 60;
        EXPECT_EQ(measured_limiter(one.entry), "DRAM");
    }
    all[1].entry.counters["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"] = 59;
    EXPECT_EQ(measured_limiter(all[1].entry), "latency");
    answer::Limiter limiter;
    EXPECT_EQ(limiter_by_use(limiter), "latency");
    limiter = {.used_sm = 0.5, .used_l1 = 0.3, .used_l2 = 0.7, .used_dram = 0.8};
    EXPECT_EQ(limiter_by_use(limiter), "DRAM");
    limiter.used_l1 = 0.9;
    EXPECT_EQ(limiter_by_use(limiter), "L1");
    limiter = {.used_sm = 0.59, .used_l1 = 0.3, .used_l2 = 0.2, .used_dram = 0.1};
    EXPECT_EQ(limiter_by_use(limiter), "latency");
    for (auto& one : all) one.answer(Method::prediction) = {.cycles = 1000, .seconds = 2, .limiter = "DRAM"};
    const auto accuracy = accuracy_of(all, Method::prediction);
    EXPECT_EQ(accuracy.limiters, 2U);
    EXPECT_EQ(accuracy.right_limiters, 1U);
    EXPECT_EQ(accuracy.median_seconds, 2);
}

TEST(Accuracy, ThePageNamesWhatIsMissing) {
    std::vector<Scored> all{scored("a", 1000, 1100), scored("d", 1000, 0, "HMMA at 0x40 is refused")};
    all[0].lost = "a guess";
    all[0].answer(Method::prediction) = {.cycles = 750, .instructions = 200, .dram_bytes = 400, .seconds = 3};
    const std::string page = accuracy_page(all, "sim:x", "x");
    EXPECT_THAT(page, HasSubstr("| simulate | 2 | 1 | 55.0% | 10.0% | 100.0% | 10.0% | 10.0% | 0.0, 0.0 | - |"));
    EXPECT_THAT(page, HasSubstr("| predict | 1 | 1 | 25.0% | 25.0% | 25.0% | 25.0% | 25.0% | 3.0, 3.0 | - |"));
    EXPECT_THAT(page, HasSubstr("| s/a | 1000 | 1100 | 10.0% | 1.050 | 0.500 |"));
    EXPECT_THAT(page, HasSubstr("| s/a | 1000 | 1100 | 10.0% | 1.050 | 0.500 | 750 | 25.0% | 1.000 | 1.000 |"));
    EXPECT_THAT(page, HasSubstr("| s/d | 1000 | - | - | - | - | - | - | - | - |"));
    EXPECT_THAT(page, HasSubstr("- `simulate` s/d: HMMA at 0x40 is refused"));
    EXPECT_THAT(page, HasSubstr("- s/a: a guess"));
    EXPECT_EQ(all[1].instruction_ratio(Method::simulation), std::nullopt);
}

TEST(Accuracy, ThePageStatesTheErrorOfSampledLaunches) {
    std::vector<Scored> all{scored("a", 1000, 1100), scored("b", 1000, 900)};
    EXPECT_THAT(accuracy_page(all, "sim:x", "x"), HasSubstr("only some blocks were simulated\n\nNone."));
    all[1].answer(Method::simulation)->blocks = {.simulated = 80, .of = 1000, .error = 0.013};
    EXPECT_THAT(accuracy_page(all, "sim:x", "x"), HasSubstr("- s/b: 80 of 1000 blocks; the cycles may be off by 1.3%"));
}

class AccuracyFile : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(file); }
    void write(const std::string& text) const { std::ofstream(file) << text; }
    [[nodiscard]] std::string error(const AccuracyOrigin& expected) const {
        std::vector<Scored> all{entry("a", 1000)};
        try {
            restore_answers(all, file, expected);
        } catch (const InputError& e) {
            return e.what();
        }
        return "no error";
    }
    const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                       fmt::format("gputomo-accuracy-{}-{}.json", getpid(),
                                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(AccuracyFile, GivesBackWhatItKeeps) {
    std::vector<Scored> all{scored("a", 1000, 1100), scored("b", 1000, 0, "refused"), entry("c", 1000)};
    all[0].lost = "a guess";
    all[0].answer(Method::simulation)->blocks = {.simulated = 80, .of = 1000, .error = 0.013};
    all[0].answer(Method::prediction) = {
        .cycles = 750, .instructions = 200, .dram_bytes = 400, .seconds = 3, .limiter = "L2"};
    const auto json = accuracy_json(all, origin());
    write(json.dump());
    std::vector<Scored> again{entry("c", 1000), entry("b", 1000), entry("a", 1000), entry("new", 1000)};
    restore_answers(again, file, origin());
    std::ranges::reverse(again);
    EXPECT_FALSE(again[0].answer(Method::simulation)) << "an entry that the file lacks stays without an answer";
    EXPECT_FALSE(again[3].answer(Method::simulation));
    EXPECT_EQ(accuracy_json(std::vector(again.begin() + 1, again.end()), origin()), json);
}

TEST_F(AccuracyFile, RefusesAnswersOfAnotherOrigin) {
    write(accuracy_json(std::vector{scored("a", 1000, 1100)}, origin()).dump());
    EXPECT_EQ(error(origin()), "no error");
    auto other = origin();
    other.device = "sim:y";
    EXPECT_THAT(error(other), testing::AllOf(HasSubstr(file.string()), HasSubstr("found answers of sim:x beside x"),
                                             HasSubstr("expected sim:y beside x")));
    other = origin();
    other.commit = "d";
    EXPECT_THAT(error(other), HasSubstr("by version 1 (d)"));
}

TEST_F(AccuracyFile, SaysWhatIsWrongInIt) {
    write("{");
    EXPECT_THAT(error(origin()), HasSubstr("line 1, column 2: not JSON: unexpected end of input; expected"));
    write(R"({"schema": "gputomo-accuracy-1"})");
    EXPECT_THAT(error(origin()), HasSubstr("gputomo-accuracy-2"));
    auto json = accuracy_json(std::vector{scored("a", 1000, 1100)}, origin());
    json["kernels"][0]["simulate"]["cycles"] = "many";
    write(json.dump());
    EXPECT_THAT(error(origin()), HasSubstr("kernels[0].simulate.cycles"));
}

TEST(Suite, ReadsTheEntriesThatAGpuMeasured) {
    const std::string file = GPUTOMO_SOURCE_DIR "/suites/cuda-samples.json";
    const auto entries = read_suite(file, "h200", false);
    ASSERT_FALSE(entries.empty());
    for (const auto& entry : entries) {
        EXPECT_EQ(entry.suite, "cuda-samples");
        EXPECT_GT(entry.counters.at(kCyclesCounter), 0);
        EXPECT_GT(entry.grid[0] * entry.block[0], 0U);
    }
    EXPECT_THAT(read_suite(file, "no GPU", false), SizeIs(0));
    const auto folder = capture_folder("c", entries.front()).string();
    EXPECT_THAT(folder, testing::MatchesRegex("c/cuda-samples/[^/]+/[0-9a-f]{12}"));
}

TEST(Suite, SaysWhatIsWrongInAFile) {
    const auto file = std::filesystem::temp_directory_path() / "gputomo-suite-test.json";
    const auto error = [&](const std::string& text) -> std::string {
        std::ofstream(file) << text;
        try {
            (void)read_suite(file, "h200", false);
        } catch (const InputError& e) {
            return e.what();
        }
        return "no error";
    };
    EXPECT_THAT(error("{"), HasSubstr("expected a suite"));
    EXPECT_THAT(error(R"({"schema": "other"})"), HasSubstr("gputomo-suite-1"));
    EXPECT_THAT(error(R"({"schema": "gputomo-suite-1", "suite": "s", "entries": [{"measured": {"h200": {}}}]})"),
                HasSubstr("name"));
    std::filesystem::remove(file);
}

TEST(Suite, FindsTheLaunchOfAnEntry) {
    capture::Capture captured;
    captured.kernels = {{"k", "k", {}, "none"}};
    capture::Launch launch;
    launch.kernel = {.kernel = 0, .grid = {2, 1, 1}, .block = {32, 1, 1}};
    captured.launches.push_back(launch);
    launch.buffers.emplace();
    captured.launches.push_back(launch);
    SuiteEntry wanted;
    wanted.kernel = "k";
    wanted.grid = {2, 1, 1};
    wanted.block = {32, 1, 1};
    EXPECT_EQ(&launch_of(captured, wanted), &captured.launches[1]);
    wanted.grid[0] = 3;
    EXPECT_THROW((void)launch_of(captured, wanted), InputError);
}

}  // namespace
}  // namespace gputomo::compare
