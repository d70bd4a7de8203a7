// `gputomo accuracy` as a user runs it, with a suite of which one kernel has a capture that cannot be read.
#include "program.hpp"

#include "units/sha256.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace gputomo::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AccuracyCommand : public ProgramTest {
protected:
    void SetUp() override {
        ProgramTest::SetUp();
        write("suite.json", R"({"schema": "gputomo-suite-1", "suite": "ours", "entries": [
            {"name": "one/k", "program": "one", "kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "traits": [],
             "measured": {"h200": {"counters": {"gpc__cycles_elapsed.max": 1000}}}},
            {"name": "two/k", "program": "two", "kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "traits": [],
             "measured": {"h200": {"counters": {"gpc__cycles_elapsed.max": 1000}}}}]})");
        write("captures/ours/two/" + sha256("k").substr(0, 12) + "/capture.json", "{}");
    }
    /// Says in the file of results that the first kernel was answered with 1500 cycles.
    void keep_an_answer() const {
        auto kept = nlohmann::json::parse(read("kept.json"));
        kept["kernels"][0]["predict"] = {
            {"error", 0.5}, {"cycles", 1500}, {"instructions", 1}, {"dram_bytes", 0}, {"seconds", 1}};
        write("kept.json", kept.dump());
    }
    [[nodiscard]] Ran predicted(std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"accuracy", "suite.json", "--captures", "captures", "--only", "predict"};
        all.insert(all.end(), more.begin(), more.end());
        return run(all);
    }
};

TEST_F(AccuracyCommand, AKernelWithoutACaptureIsNamedAndCountsAsAHundredPercent) {
    const auto ran = predicted({"--json"});
    ASSERT_EQ(ran.code, 1) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json.at("kernels").at(0).at("predict").at("failure"), "it was not captured");
    EXPECT_EQ(json.at("kernels").at(0).at("predict").at("error"), 1.0);
    EXPECT_THAT(predicted().out, AllOf(HasSubstr("one/k"), HasSubstr("it was not captured")));
}

TEST_F(AccuracyCommand, FailuresAreNoAnswersAndExitWithOneWhereThereIsNoOther) {
    const auto ran = predicted();
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("2 of 2 done: 0 answers, 2 failures"), Not(HasSubstr("2 answers"))));
}

TEST_F(AccuracyCommand, WithoutAnyCaptureNothingIsTried) {
    for (const std::string folder : {"absent", "empty"}) {
        if (folder == "empty") write("empty/note", "");
        const auto ran = run({"accuracy", "suite.json", "--captures", folder});
        EXPECT_EQ(ran.code, 2);
        EXPECT_EQ(ran.out, "");
        EXPECT_THAT(ran.err, HasSubstr("--captures " + folder + ": has no capture of the 2 kernels in suite.json"));
        EXPECT_THAT(ran.err, Not(HasSubstr(" answers")));
    }
}

TEST_F(AccuracyCommand, FailuresThatWereKeptAreTriedAgain) {
    ASSERT_EQ(predicted({"--results", "kept.json"}).code, 1);
    EXPECT_THAT(read("kept.json"), HasSubstr("it was not captured"));
    EXPECT_THAT(predicted({"--results", "kept.json"}).err, HasSubstr("2 of 2 done"));
}

TEST_F(AccuracyCommand, AnswersThatWereKeptAreNotAskedForAgain) {
    ASSERT_EQ(predicted({"--results", "kept.json"}).code, 1);
    keep_an_answer();
    const auto ran = predicted({"--results", "kept.json"});
    EXPECT_EQ(ran.code, 0) << "one is answered";
    EXPECT_THAT(ran.err, HasSubstr("1 of 1 done: 0 answers, 1 failures"));
    EXPECT_THAT(ran.out, HasSubstr("50.0"));
    EXPECT_EQ(
        run({"accuracy", "suite.json", "--captures", "absent", "--only", "predict", "--results", "kept.json"}).code, 0)
        << "kept answers need no capture";
}

TEST_F(AccuracyCommand, HeldOutEntriesMustExist) {
    const auto ran = predicted({"--held-out"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("--held-out: suite.json has no such entries; expected them in held-out/ beside it"));
}

TEST_F(AccuracyCommand, RefusesAnswersOfAnotherDeviceAndFilesThatAreNone) {
    ASSERT_EQ(predicted({"--results", "kept.json"}).code, 1);
    const auto other = predicted({"--results", "kept.json", "--seed", "2"});
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("Remove it or name another file"));
    EXPECT_EQ(predicted({"--gpu", "h300"}).code, 2);
    EXPECT_THAT(predicted({"--results", "suite.json"}).err, HasSubstr("suite.json"));
}

TEST_F(AccuracyCommand, TheSimulatedGpuMayBeARecordedScan) {
    const std::string scan = GPUTOMO_SOURCE_DIR "/recordings/h100-scan-1.json.gz";
    const auto ran = predicted({"--device", "sim:" + scan});
    EXPECT_EQ(ran.code, 1) << "there is no capture, but the GPU was opened: " << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("h100-scan-1.json.gz"));
}

TEST_F(AccuracyCommand, AnH100IsBuiltIn) {
    const auto ran = predicted({"--device", "sim:h100"});
    EXPECT_EQ(ran.code, 1) << "there is no capture, but the GPU was opened: " << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("sim:h100"));
}

}  // namespace
}  // namespace gputomo::cli::testing
