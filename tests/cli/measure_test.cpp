// `gputomo measure` and --caches as a user runs them, without a GPU. tests/cuda measures with a fake driver.
#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>

namespace gputomo::cli::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCapture = "recordings/own/streams/3e52d53619c3";  ///< of one launch

class MeasureCommand : public ProgramTest {};

TEST_F(MeasureCommand, SaysWhatTheFolderOrTheGpuLacks) {
    const auto none = run({"measure", "nowhere"});
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("nowhere: is no folder; expected one that `gputomo capture` wrote"));
    EXPECT_THAT(run({"measure", source("docs")}).err, HasSubstr("found no capture.json"));
    EXPECT_THAT(run({"measure", source(kCapture), "--launch", "7"}).err, HasSubstr("has 1 launches, counted from 0"));
    const auto wrong = run({"measure", source(kCapture), "--device", "sim:nothing"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("no such machine"));
    const auto gpu = run({"measure", source(kCapture), "--device", "cuda:77"});
    EXPECT_EQ(gpu.code, 3);
    EXPECT_THAT(gpu.err, ::testing::AnyOf(HasSubstr("no CUDA driver"), HasSubstr("cuda:77")));
    EXPECT_EQ(run({"measure", source(kCapture), "--simulate"}).code, 2) << "it needs --beside";
}

TEST_F(MeasureCommand, RefusesToWriteOverTheCaptureAndKeepsALaunchThatFailsApart) {
    EXPECT_EQ(run({"measure", source(kCapture), "--out", source(kCapture) + "/capture.json"}).code, 2);
    const auto checked = run({"measure", source(kCapture), "--device", "sim:h200", "--caches", "warm", "--repeat", "1",
                              "--check", "--out", "m.json"});
    EXPECT_EQ(checked.code, 1);
    EXPECT_THAT(checked.out, HasSubstr("failed: the launch of 'transpose' has no results to compare with"));
    const auto json = nlohmann::json::parse(read("m.json"));
    EXPECT_EQ(json["schema"], "gputomo-measurements-1");
    EXPECT_THAT(json["launches"][0]["failed"].get<std::string>(), HasSubstr("capture it with --results"));
    EXPECT_EQ(json["origin"]["gpu"]["device"], "sim:h200");
    EXPECT_GT(json["empty_kernel"]["warm"]["empty_kernel_cycles"], 0);
}

TEST_F(MeasureCommand, CachesOfPredictionsAreChosen) {
    const auto predict = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"predict", source(kCapture), "--machine", "sim:h200", "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto ran = run(arguments);
        EXPECT_EQ(ran.code, 0) << ran.err;
        return nlohmann::json::parse(ran.out)["launches"][0];
    };
    const auto both = predict({}), cold = predict({"--caches", "cold"}), warm = predict({"--caches", "warm"});
    EXPECT_EQ(both["caches"], "cold");
    EXPECT_EQ(both["cycles"], cold["cycles"]);
    EXPECT_EQ(both["warm_cycles"], warm["cycles"]);
    EXPECT_TRUE(cold["warm_cycles"].is_null()) << "it was not asked for";
    EXPECT_LT(warm["cycles"], cold["cycles"]);
    EXPECT_EQ(predict({"--caches", "after:0"})["cycles"], warm["cycles"]) << "its only launch";
    const auto refused = [&](const std::string& caches) {
        const auto ran = run({"predict", source(kCapture), "--machine", "sim:h200", "--caches", caches});
        EXPECT_EQ(ran.code, 2) << caches;
        return ran.err;
    };
    EXPECT_THAT(refused("hot"), HasSubstr("--caches hot: expected cold, dirty, warm or, of a capture, after:N"));
    EXPECT_THAT(refused("after:1"), HasSubstr("the number of one of the 1 launches, counted from 0"));
    const auto file = run({"simulate", source("kernels/permute.ptx"), "--caches", "after:0"});
    EXPECT_THAT(file.err, HasSubstr("after:0: expected cold or warm, since a file has no other launch"));
    EXPECT_EQ(file.code, 2);
    const auto dirty = run({"simulate", source("kernels/permute.ptx"), "--caches", "dirty"});
    EXPECT_THAT(dirty.err, HasSubstr("--caches dirty: expected cold, warm or, of a capture, after:N; dirty caches are "
                                     "predicted only"));
    EXPECT_EQ(dirty.code, 2);
}

}  // namespace
}  // namespace gputomo::cli::testing
