// Runs `gputomo predict` and `gputomo evaluate` as a user does.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace gputomo::cli::of_models {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Errors {
    double smallest = 1e9, largest = 0, mean = 0;
};

class Models : public testing::ProgramTest {
protected:
    /// Evaluates a recorded surface ("recordings/h200-surface-l2.json.gz") with the parameters of a machine
    /// ("machines/h200.json").
    [[nodiscard]] json evaluation_of(const std::string& surface, const std::string& machine,
                                     const std::string& access) const {
        const auto ran =
            run({"evaluate", "--surface", source(surface), "--machine", source(machine), "--access", access, "--json"});
        EXPECT_EQ(ran.code, 0) << ran.err;
        return json::parse(ran.out);
    }
    /// Evaluates the recorded surface of an H200 with the parameters that a scan measured.
    [[nodiscard]] json evaluation_of(const std::string& access) const {
        return evaluation_of("recordings/h200-surface-" + access + ".json.gz", "machines/h200.json", access);
    }
    /// The errors of one model over all mixes.
    static Errors errors_of(const json& evaluation, const std::string& model = "gputomo-replay") {
        Errors errors;
        double mixes = 0;
        for (const auto& row : evaluation.at("models")) {
            if (row.at("model") != model) continue;
            errors.smallest = std::min(errors.smallest, row.at("smallest").get<double>());
            errors.largest = std::max(errors.largest, row.at("largest").get<double>());
            errors.mean += row.at("mean_error").get<double>();
            ++mixes;
        }
        errors.mean /= mixes;
        return errors;
    }

    /// The command line for a launch of a kernel of tests/profile.
    static std::vector<std::string> profiled(const std::string& kernel, const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"predict", source("tests/launch/fixtures/profiled.cubin")};
        for (const std::string argument : {"--kernel", kernel.c_str(), "--machine", "sim:h200"})
            arguments.push_back(argument);
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
};

TEST_F(Models, PredictsAListing) {
    const auto file = source("tests/data/sass/vector_add_sm_30.sass");
    const auto ran = run({"predict", file, "--kernel", "add", "--machine", "sim:gtx680", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto prediction = json::parse(ran.out);
    EXPECT_EQ(prediction.at("schema"), "gputomo-prediction-1");
    EXPECT_EQ(prediction.at("latency_cycles"), 544);
    EXPECT_EQ(prediction.at("limited_by"), "memory system");
    EXPECT_EQ(prediction.at("instructions").size(), 12U);
    EXPECT_EQ(prediction.at("throughput").back().at("warps"), 64);
    EXPECT_THAT(run({"predict", file, "--kernel", "add", "--machine", source("machines/gtx680.json")}).out,
                AllOf(HasSubstr("544 cycles"), HasSubstr("<- the limit"), HasSubstr("Assumed")));
}

TEST_F(Models, PredictOfPtxAsksForTripCountsAndBranchesOverLoops) {
    const auto file = source("tests/data/ptx/matrix_multiply.ptx");
    std::vector<std::string> arguments{"predict", file, "--kernel", "matrix_multiply", "--machine", "sim:gtx980"};
    auto ran = run(arguments);
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("the branch to $L__BB0_3 in line 47 passes over the loop at $L__BB0_2"));
    arguments.insert(arguments.end(), {"--static", "--untaken", "$L__BB0_3"});
    ran = run(arguments);
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("expected --trip-count $L__BB0_2=N"));
    arguments.insert(arguments.end(), {"--trip-count", "$L__BB0_2=64"});
    EXPECT_EQ(run(arguments).code, 0);
}

TEST_F(Models, PredictNamesFaultyOptionsAndFiles) {
    const auto file = source("tests/data/ptx/vector_add.ptx");
    const auto error = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"predict", file, "--kernel", "vector_add", "--machine", "sim:gtx980"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto ran = run(arguments);
        EXPECT_EQ(ran.code, 2);
        return ran.err;
    };
    EXPECT_THAT(error({"--trip-count", "x"}), HasSubstr("--trip-count x: expected NAME=NUMBER"));
    EXPECT_THAT(error({"--transactions", "a=4"}), HasSubstr("--transactions a=4"));
    EXPECT_THAT(run({"predict", file, "--kernel", "vector_add", "--machine", "sim:8800gtx", "--l2-hit", "0.5"}).err,
                HasSubstr("describes no cache of the GPU"));
    EXPECT_THAT(run({"predict", "none.ptx", "--kernel", "k", "--machine", "sim:gtx980"}).err, HasSubstr("none.ptx"));
    EXPECT_THAT(run({"predict", file, "--kernel", "k", "--machine", "sim:gtx980"}).err,
                HasSubstr("no kernel 'k'; expected one of vector_add"));
    write("bad.sass", "MOV R1, R2\n?\n");
    EXPECT_THAT(run({"predict", "bad.sass", "--kernel", "k", "--machine", "sim:gtx980"}).err, HasSubstr("bad.sass:2:"));
}

TEST_F(Models, EvaluatesOneMixOnASimulatedGpu) {
    const auto ran = run(
        {"evaluate", "--device", "sim:gtx680", "--machine", "sim:gtx680", "--access", "sfu", "--alpha", "4", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto evaluation = json::parse(ran.out);
    EXPECT_EQ(evaluation.at("schema"), "gputomo-evaluation-1");
    EXPECT_EQ(evaluation.at("surface").at(0).at("throughput").size(), 12U);
    EXPECT_EQ(evaluation.at("models").at(0).at("model"), "volkov-basic");
    EXPECT_NEAR(evaluation.at("models").at(0).at("largest").get<double>(), 1, 0.3);
    EXPECT_EQ(run({"evaluate", "--device", "sim:gtx680", "--alpha", "0"}).code, 2);
    EXPECT_THAT(run({"evaluate", "--device", "sim:gtx680", "--access", "texture"}).err,
                HasSubstr("expected one of global, shared, sfu, l2, l1, tensor"));
}

TEST_F(Models, ReplayModelFitsStreamsOfAnH200Within7Percent) {
    const auto evaluation = evaluation_of("global");
    const auto own = errors_of(evaluation);
    EXPECT_GT(own.smallest, 1 / 1.07);
    EXPECT_LT(own.largest, 1.07);
    EXPECT_LT(own.mean, 1.02);
    EXPECT_GT(errors_of(evaluation, "volkov-basic").mean, own.mean);
}

/// The cusp lies beyond the warps that fit an H200's SM, and beyond the 16 that were measured on an 8800 GTX.
TEST_F(Models, EvaluateReportsTheCusp) {
    const auto ran = run({"evaluate", "--surface", source("recordings/h200-surface-global.json.gz"), "--machine",
                          source("machines/h200.json"), "--alpha", "11,23,64,512", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto cusps = json::parse(ran.out).at("cusp");
    const auto& measured = cusps.at(0);
    EXPECT_EQ(measured.at("of"), "measured");
    EXPECT_TRUE(measured.at("warps").is_null());
    EXPECT_EQ(measured.at("alpha"), 23);
    EXPECT_EQ(measured.at("last_alpha"), 64);
    EXPECT_TRUE(measured.at("above_both_ends").get<bool>());
    EXPECT_EQ(measured.at("needed").back().at("alpha"), "adds alone");
    EXPECT_EQ(cusps.at(1).at("of"), "volkov-basic");
    EXPECT_EQ(cusps.at(1).at("alpha"), 23);
    EXPECT_GT(cusps.at(1).at("warps").get<int>(), 64);
    const auto text = run({"evaluate", "--surface", source("tests/data/surfaces/8800gtx.json.gz"), "--machine",
                           source("machines/8800gtx.json")})
                          .out;
    EXPECT_THAT(text, AllOf(HasSubstr("the cusp: the mix that needs the most warps"),
                            HasSubstr("no tried number of warps is enough, alpha 8: ")));
}

TEST_F(Models, ReplayModelFitsOtherMixesOfAnH200Within15Percent) {
    for (const std::string access : {"shared", "l2", "sfu", "l1"}) {
        const auto own = errors_of(evaluation_of(access));
        EXPECT_LT(own.largest, 1.15) << access;
        EXPECT_GT(own.smallest, 1 - 0.15) << access;
        EXPECT_LT(own.mean, 1.03) << access;
    }
}

TEST_F(Models, MatrixMultiplyAccumulatesBlockASchedulersAdds) {
    const auto evaluation = evaluation_of("tensor");
    EXPECT_GT(errors_of(evaluation, "volkov-basic").largest, 1.8) << "which knows of no slots";
    EXPECT_LT(errors_of(evaluation, "zhang-owens-add").mean, 1.1) << "which has one after the other";
    EXPECT_LT(errors_of(evaluation).mean, errors_of(evaluation, "volkov-basic").mean);
}

TEST_F(Models, ReplayModelFitsStreamsOfSimulatedGpusWithin9Percent) {  // tests/data/surfaces/README.md
    for (const std::string gpu : {"8800gtx", "gtx280"}) {
        const auto own =
            errors_of(evaluation_of("tests/data/surfaces/" + gpu + ".json.gz", "machines/" + gpu + ".json", "global"));
        EXPECT_LT(own.largest, 1.09) << gpu;
        EXPECT_GT(own.smallest, 1 / 1.09) << gpu;
    }
}

TEST_F(Models, PredictsTheProjectsKernelsOnAnH200) {
    const auto ran = run({"predict", "all", "--measured", source("recordings/h200-kernels.json"), "--machine",
                          source("machines/h200.json"), "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    std::vector<double> errors;
    const auto comparison = json::parse(ran.out);
    EXPECT_EQ(comparison.at("kernels").size(), 9U);
    for (const auto& kernel : comparison.at("kernels"))
        for (const auto& point : kernel.at("warps_per_cycle")) {
            const double ratio = point.at("predicted").get<double>() / point.at("measured").get<double>();
            EXPECT_LT(std::max(ratio, 1 / ratio), 1.25) << kernel.at("kernel") << " " << point;
            errors.push_back(std::max(ratio, 1 / ratio));
        }
    for (const auto& kernel : comparison.at("kernels"))  // absolute values are 16% off
        EXPECT_NEAR(kernel.at("needed_predicted").get<double>() / kernel.at("needed_measured").get<double>(), 1, 0.17)
            << kernel.at("kernel");
    std::ranges::sort(errors);
    EXPECT_LT(errors.at(errors.size() / 2), 1.10);
}

TEST_F(Models, PredictMeasuresAKernelBesideThePrediction) {
    const auto ran = run({"predict",   source("tests/data/ptx/vector_add.ptx"),
                          "--kernel",  "vector_add",
                          "--machine", "sim:gtx980",
                          "--device",  "sim:gtx980",
                          "--grid",    "1024",
                          "--block",   "128",
                          "--arg",     "buf:524288",
                          "--arg",     "buf:524288",
                          "--arg",     "buf:524288",
                          "--arg",     "s32:131072",
                          "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto measured = json::parse(ran.out).at("measured");
    EXPECT_EQ(measured.at("warps_per_cycle").size(), 5U);
    const auto first = measured.at("warps_per_cycle").at(0);
    EXPECT_NEAR(first.at("predicted").get<double>() / first.at("measured").get<double>(), 1, 0.35);
    EXPECT_THAT(run({"predict", "vector_add", "--machine", "sim:gtx980"}).err,
                HasSubstr("expected --device to measure on, or --measured FILE"));
    write("kernels.json",
          R"({"schema": "gputomo-kernels-1", "gpu": "x", "sms": 1, "kernels": [{"id": "reduce", "threads": 0}]})");
    EXPECT_THAT(run({"predict", "all", "--measured", "kernels.json", "--machine", "sim:gtx980"}).err,
                HasSubstr("kernels[0].threads: found 0"));
}

TEST_F(Models, PredictExecutesBlocksOfACubin) {
    const auto of = [&](const std::string& turns) {
        const auto ran = run(profiled("loop", {"--grid", "16", "--block", "64", "--arg", "buf:1048576", "--arg",
                                               "buf:65536", "--arg", "s32:" + turns, "--json"}));
        EXPECT_EQ(ran.code, 0) << ran.err;
        return json::parse(ran.out);
    };
    const auto few = of("10"), many = of("1000");
    EXPECT_EQ(few.at("schema"), "gputomo-answer-1");
    EXPECT_GT(many.at("instructions").get<double>(), 50 * few.at("instructions").get<double>());
    EXPECT_GT(many.at("cycles").get<double>(), 50 * few.at("cycles").get<double>());
    EXPECT_EQ(many.at("limiter"), "latency");
    EXPECT_EQ(many.at("counters").at("dram_read_bytes"), 1000 * 128);
    EXPECT_THAT(many.at("warnings").at(0).get<std::string>(), HasSubstr("too small to fill the GPU"));
    for (const std::string member : {"kernel", "gpu", "microseconds", "needed_warps", "assumptions", "bounds",
                                     "occupancy", "hot_instructions", "sampled", "origin"})
        EXPECT_TRUE(few.contains(member)) << member;
    const auto text = run(profiled(
        "loop", {"--grid", "16", "--block", "64", "--arg", "buf:1048576", "--arg", "buf:65536", "--arg", "s32:10"}));
    EXPECT_THAT(text.out, AllOf(HasSubstr("limited by    latency"), HasSubstr("of 16 blocks executed"),
                                HasSubstr("--explain lists them")));
}

TEST_F(Models, PredictOfALaunchNamesWhatIsWrong) {
    const auto launch_of = [&](const std::string& kernel, std::vector<std::string> more) {
        for (const std::string option : {"--grid", "--block"})
            if (std::ranges::find(more, option) == more.end()) more.insert(more.end(), {option, "1"});
        return run(profiled(kernel, more));
    };
    const auto error = [&](const std::string& kernel, const std::vector<std::string>& more) {
        const auto ran = launch_of(kernel, more);
        EXPECT_EQ(ran.code, 2) << ran.err;
        return ran.err;
    };
    EXPECT_THAT(error("loop", {"--arg", "buf:64"}), HasSubstr("found 1 arguments; expected 3"));
    EXPECT_THAT(error("loop", {"--arg", "buf:64", "--arg", "buf:64", "--arg", "s64:1"}),
                HasSubstr("--arg s64:1: has 8 bytes; expected the 4"));
    EXPECT_THAT(error("loop", {"--block", "2048", "--arg", "buf:64", "--arg", "buf:64", "--arg", "s32:1"}),
                HasSubstr("--block 2048: found 2048 threads; expected at most 1024"));
    EXPECT_THAT(error("none", {}), HasSubstr("no kernel 'none'"));
    EXPECT_THAT(
        error("loop", {"--trip-count", "L=4"}),
        HasSubstr("--trip-count: has no effect with a launch that is executed; expected it with the analysis of a PTX "
                  "file or a listing (--static)"));
    EXPECT_THAT(error("loop", {"--static"}), HasSubstr("is machine code; expected a PTX file"));
    EXPECT_THAT(
        run({"predict", source("tests/launch/fixtures/profiled.cubin"), "--kernel", "loop", "--machine", "sim:gtx980"})
            .err,
        HasSubstr("on compute capability 8.0, 8.6, 8.9 and 9.0 only, and GeForce GTX 980 has 5.2"));
    const auto outside = launch_of("loop", {"--arg", "buf:64", "--arg", "buf:64", "--arg", "s32:5"});
    EXPECT_EQ(outside.code, 1);
    EXPECT_THAT(outside.err, HasSubstr("illegal address"));
    const auto endless = launch_of("endless", {"--arg", "buf:4", "--time-limit", "20"});
    EXPECT_EQ(endless.code, 2);
    EXPECT_THAT(endless.err, AllOf(HasSubstr("its only block never ends"), HasSubstr("nothing changes it")));
}

TEST_F(Models, EvaluateNeedsAMachineForASurface) {
    EXPECT_THAT(run({"evaluate", "--surface", source("recordings/h200-surface-sfu.json.gz")}).err,
                HasSubstr("--surface: expected --machine"));
    EXPECT_THAT(run({"evaluate", "--surface", source("recordings/h200-surface-sfu.json.gz"), "--machine",
                     source("machines/h200.json"), "--access", "shared"})
                    .err,
                HasSubstr("no mixes of shared and adds"));
    EXPECT_EQ(run({"evaluate", "--surface", "none.json", "--machine", "sim:gtx980"}).code, 2);
}

}  // namespace
}  // namespace gputomo::cli::of_models
