// Suites, and the score of simulations over their entries.
#include "replay/accuracy.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gputomo::replay {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Scored scored(const std::string& name, double measured, double cycles, const std::string& failure = "") {
    Scored one;
    one.entry.suite = "s";
    one.entry.name = name;
    one.entry.counters = {{kCyclesCounter, measured},
                          {"smsp__inst_executed.sum", 200},
                          {"dram__bytes_read.sum", 100},
                          {"dram__bytes_write.sum", 300}};
    one.cycles = cycles;
    one.instructions = 210;
    one.dram_bytes = 200;
    one.failure = failure;
    return one;
}

TEST(Accuracy, AFailureCountsAsAHundredPercent) {
    std::vector<Scored> all{scored("a", 1000, 1100), scored("b", 1000, 800), scored("c", 1000, 1050),
                            scored("d", 1000, 0, "refused")};
    const auto accuracy = accuracy_of(all);
    EXPECT_EQ(accuracy.entries, 4U);
    EXPECT_EQ(accuracy.simulated, 3U);
    EXPECT_DOUBLE_EQ(accuracy.mean, (0.1 + 0.2 + 0.05 + 1) / 4);
    EXPECT_DOUBLE_EQ(accuracy.median, 0.1);
    EXPECT_DOUBLE_EQ(accuracy.percentile_90, 1);
    EXPECT_NEAR(accuracy.mean_of_simulated, 0.35 / 3, 1e-12);
    all.push_back(scored("e", 1000, 9000));
    all.back().entry.async = true;
    EXPECT_EQ(accuracy_of(all).entries, 4U) << "asynchronous matrix instructions are reported apart";
    EXPECT_EQ(accuracy_of({}).mean, 0);
}

TEST(Accuracy, ThePageNamesWhatIsMissing) {
    std::vector<Scored> all{scored("a", 1000, 1100), scored("d", 1000, 0, "HMMA at 0x40 is refused")};
    all[0].lost = "a guess";
    const std::string page = accuracy_page(all, "sim:x", "x");
    EXPECT_THAT(page, HasSubstr("| 2 | 1 | 55.0% | 10.0% | 100.0% | 10.0% | 10.0% |"));
    EXPECT_THAT(page, HasSubstr("| s/a | 1000 | 1100 | 10.0% | 1.050 | 0.500 |"));
    EXPECT_THAT(page, HasSubstr("- s/d: HMMA at 0x40 is refused"));
    EXPECT_THAT(page, HasSubstr("- s/a: a guess"));
    EXPECT_EQ(all[1].instruction_ratio(), std::nullopt);
}

TEST(Accuracy, ThePageStatesTheErrorOfSampledLaunches) {
    std::vector<Scored> all{scored("a", 1000, 1100), scored("b", 1000, 900)};
    EXPECT_THAT(accuracy_page(all, "sim:x", "x"), HasSubstr("only some blocks were simulated\n\nNone."));
    all[1].blocks = {.simulated = 80, .of = 1000, .error = 0.013};
    EXPECT_THAT(accuracy_page(all, "sim:x", "x"), HasSubstr("- s/b: 80 of 1000 blocks; the cycles may be off by 1.3%"));
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
    EXPECT_THAT(error("{"), HasSubstr("not JSON; expected a suite"));
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
    SuiteEntry entry;
    entry.kernel = "k";
    entry.grid = {2, 1, 1};
    entry.block = {32, 1, 1};
    EXPECT_EQ(&launch_of(captured, entry), &captured.launches[1]);
    entry.grid[0] = 3;
    EXPECT_THROW((void)launch_of(captured, entry), InputError);
}

}  // namespace
}  // namespace gputomo::replay
