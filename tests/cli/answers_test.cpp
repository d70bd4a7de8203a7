// What `predict` and `simulate` print of the launches of a capture.
#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace gputomo::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

/// A capture of a launch of sgemm and one of sgemm128, of four blocks each so that they are answered quickly, and
/// changed copies of it.
class Answers : public ProgramTest {
protected:
    static constexpr const char* kFixture = "tests/answer/fixtures/sgemm";
    static constexpr const char* kCapture = "small";

    void SetUp() override {
        ProgramTest::SetUp();
        copy(kCapture, index());
    }

    [[nodiscard]] Ran predict(const std::string& capture, std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments{"predict", capture, "--machine", "sim:h200"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }
    [[nodiscard]] static Json index() {
        auto read = Json::parse(std::ifstream(source(kFixture) + std::string("/capture.json")));
        for (auto& launch : read["launches"]) launch["launch"]["grid"] = {2, 2, 1};
        return read;
    }
    [[nodiscard]] std::string copy_with(const Json& changed) const {
        copy("capture", changed);
        return "capture";
    }
    void copy(const std::string& to, const Json& changed) const {
        std::filesystem::copy(source(kFixture), path(to), std::filesystem::copy_options::recursive);
        write(to + "/capture.json", changed.dump());
    }
};

TEST_F(Answers, ACaptureIsOneTableWithATotal) {
    const auto ran = predict(kCapture);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "") << "no note on what is assumed";
    EXPECT_THAT(ran.out, ContainsRegex("kernel +launches +predicted +share +limiter +captured +error\n"
                                       "sgemm128 +1 .*112\\.00 +-.*\nsgemm +1 .*161\\.54 +-"))
        << "it was captured on another GPU, so that there is no error";
    EXPECT_THAT(ran.out, ContainsRegex("total +2 .*273\\.54"));
    EXPECT_THAT(ran.out, HasSubstr("14062.27 us from the first start to the last end: 13788.74 us were gaps"));
    EXPECT_THAT(ran.out, AllOf(HasSubstr("--explain lists them"), Not(HasSubstr("was not timed"))));
    EXPECT_LT(std::count(ran.out.begin(), ran.out.end(), '\n'), 20);
}

TEST_F(Answers, TimesOfTheSameGpuHaveAnError) {
    auto changed = index();
    changed["gpus"][0]["name"] = "NVIDIA H200";
    const auto json = Json::parse(predict(copy_with(changed), {"--json"}).out);
    const auto& total = json["total"];
    const double us = total["microseconds"], captured = total["captured_microseconds"];
    EXPECT_DOUBLE_EQ(total["error"], us / captured - 1);
    EXPECT_EQ(json["kernels"][0]["kernel"], "sgemm128") << "longest first";
    EXPECT_DOUBLE_EQ(
        json["kernels"][0]["microseconds"].get<double>() + json["kernels"][1]["microseconds"].get<double>(), us);
    EXPECT_EQ(json["launches"][1]["kernel"], "sgemm128");
    EXPECT_TRUE(json["launches"][1]["executed_instructions"].is_null());
    EXPECT_EQ(json["launches"][1]["hot_instructions"].size(), 12U);
    EXPECT_FALSE(json["assumptions_of_gpu"].empty());
}

TEST_F(Answers, OneLaunchOrOneKernelHasTheWholeAnswer) {
    EXPECT_THAT(predict(kCapture, {"--launch", "1"}).out, AllOf(HasSubstr("launch 1: sgemm128 on NVIDIA H200"),
                                                                HasSubstr("limited by"), Not(HasSubstr("total"))));
    auto changed = index();
    changed["kernels"][0]["readable"] = "void blas::sgemm<4, float>(float*, int)";
    changed["launches"][1]["launch"]["kernel"] = 0;
    const auto file = copy_with(changed);
    const auto ran = predict(file, {"--kernel", "blas::sgemm"});
    EXPECT_THAT(ran.out, AllOf(ContainsRegex("launch +grid +block .*\n +[01]  2x2x1 .*\n +[01]  2x2x1 "),
                               HasSubstr("\nThe longest is launch ")));
    EXPECT_THAT(predict(file).out, ContainsRegex("\nblas::sgemm +2 "));
    EXPECT_THAT(predict(file, {"--kernel", "blas"}).err, HasSubstr("no launch with memory of the kernel blas"));
}

TEST_F(Answers, AssumptionsStandOnceBehindExplain) {
    const auto text = predict(kCapture, {"--explain"}).out;
    const std::string line = "IMAD.WIDE was not timed";
    const auto first = text.find(line);
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(text.find(line, first + 1), std::string::npos);
    EXPECT_THAT(text, HasSubstr("Assumed of the GPU, because its description leaves it open\n"));
}

TEST_F(Answers, ValuesOfTheDescriptionAreSet) {
    const auto cycles = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--launch", "0", "--json"});
        const auto ran = predict(kCapture, more);
        EXPECT_EQ(ran.code, 0) << ran.err;
        return Json::parse(ran.out);
    };
    const auto as_is = cycles({}), narrow = cycles({"--set", "shared.bytes_per_cycle=64"});
    EXPECT_GT(narrow["launches"][0]["cycles"], as_is["launches"][0]["cycles"]);
    EXPECT_EQ(narrow["assumptions_of_gpu"][0], "shared.bytes_per_cycle = 64, set on the command line instead of 128");
    const auto refused = [&](const std::string& assignment, const std::string& part) {
        const auto ran = predict(kCapture, {"--set", assignment});
        EXPECT_EQ(ran.code, 2) << assignment;
        EXPECT_THAT(ran.err, AllOf(::testing::StartsWith("gputomo: "), HasSubstr(part)));
    };
    refused("shared.latency", "expected PATH=VALUE");
    refused("shared.latencies=4", "no such leaf in a machine description: 'shared.latencies'");
    refused("shared.latency=fast", "of another type");
    refused("caches.l2.sector=7", "caches.l2.sector: found 7; expected a power of two");
    refused("caches=4", "malformed machine path 'caches'");
    for (const std::string entry : {"caches.L2", "tlbs.l1", "pipelines.fp", "accesses.l2_stores"})
        refused(entry + ".scope=sm", "no description has '" + entry + "', and nothing would read it");
    // The H200's description leaves this one open.
    EXPECT_EQ(predict(kCapture, {"--set", "caches.l1.bytes_per_cycle=64", "--launch", "0"}).code, 0);
}

/// A box outside of its tensor, which the kernel asks for 2000 times where it expects more bytes than the box has.
TEST_F(Answers, AWarpThatDoesNotAwaitAPhaseIsNamed) {
    const std::string map = "00000000010000001001000004000000" + std::string(32, '0') +
                            "0f000000030000000000000000000000" + std::string(14, '0') + "0f03" + std::string(142, '0');
    const auto warned = [&](const std::string& bytes) {
        const std::string box = std::string(
                                    "0200000000000000"
                                    "00000000"
                                    "e8030000") +
                                std::string(40, '0') + bytes + "00010000";
        const auto ran = run({"predict", source("tests/machine_code/fixtures/tensors.cubin"), "--machine", "h200",
                              "--kernel", "load_box", "--grid", "1", "--block", "32", "--shared", "65536", "--arg",
                              "hex:" + map, "--arg", "hex:" + box, "--arg", "buf:4096"});
        EXPECT_EQ(ran.code, 0) << ran.err;
        return ran.out.find("went on before it ended") != std::string::npos;
    };
    EXPECT_FALSE(warned("00010000"));
    EXPECT_TRUE(warned("00020000"));
}

TEST_F(Answers, ShippedDescriptionsHaveTheirNamesEverywhere) {
    EXPECT_EQ(run({"diff", "h200", "sim:h200"}).code, 0);
    EXPECT_THAT(run({"show", "topology.sms", "h200"}).out, HasSubstr("topology.sms = 132"));
    EXPECT_EQ(run({"export", "--to", "csv", "gtx980"}).code, 0);
    EXPECT_EQ(run({"report", "gtx980", "--out", "page.html"}).code, 0);
    EXPECT_THAT(run({"predict", kCapture, "--machine", "h200", "--launch", "0"}).out, HasSubstr("on NVIDIA H200"));
    EXPECT_THAT(
        run({"simulate", source("tests/data/ptx/vector_add.ptx"), "--kernel", "vector_add", "--device", "gtx980",
             "--grid", "1", "--block", "4", "--arg", "buf:16", "--arg", "buf:16", "--arg", "buf:16", "--arg", "u32:4"})
            .out,
        HasSubstr("on GeForce GTX 980"));
    EXPECT_THAT(run({"show", "topology.sms", "h300"}).err, HasSubstr("h300: no such machine; expected one of"));
}

TEST_F(Answers, FailedLaunchesAreListedWithTheirReason) {
    auto changed = index();
    changed["kernels"][1].erase("module");
    changed["kernels"][1]["missing"] = "its module was lost";
    const auto ran = predict(copy_with(changed));
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.out, AllOf(ContainsRegex("sgemm128 +0 .* 1 failed"), HasSubstr("\nFailed\n  - launch 1: "),
                               ContainsRegex("total +1 ")));
}

class Pages : public ProgramTest {
protected:
    /// Predicts a launch of coalesced<<<8, 256>>> of kernels/advice.
    [[nodiscard]] Ran predict(std::vector<std::string> more) const {
        more.insert(more.begin(),
                    {"predict", source("tests/answer/fixtures/advice/coalesced.cubin"), "--kernel", "coalesced",
                     "--machine", "h200", "--grid", "8", "--block", "256", "--arg", "buf:8192", "--arg", "buf:524288"});
        return run(more);
    }
};

TEST_F(Pages, AreWrittenBesideTheText) {
    const auto ran = predict({"--html", path("page.html")});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("What warps wait for"), HasSubstr("// coalesced.cu:10")));
    const auto page = read("page.html");
    EXPECT_THAT(page, AllOf(HasSubstr("coalesced on NVIDIA H200"), HasSubstr("id='stalls'"),
                            HasSubstr("coalesced.cu:10"), HasSubstr("<li>f64: "), HasSubstr("--html")));
}

TEST_F(Pages, DoNotReplaceInputs) {
    write("k.cubin", "not read");
    const auto ran = run({"predict", path("k.cubin"), "--kernel", "k", "--machine", "h200", "--grid", "1", "--block",
                          "32", "--html", path("k.cubin")});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("--html"));
    EXPECT_EQ(read("k.cubin"), "not read");
    EXPECT_THAT(predict({"--html", path("none/page.html")}).err, HasSubstr("none/page.html"));
}

TEST_F(Pages, AllInstructionsAreListedInOrder) {
    const auto ran = predict({"--instructions"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto all = ran.out.substr(ran.out.find("All executed instructions"));
    EXPECT_LT(all.find(" at 0x0"), all.find(" at 0x10"));
    EXPECT_LT(all.find(" at 0x10"), all.find("EXIT at"));
    EXPECT_THAT(all, HasSubstr("long_scoreboard"));
}

}  // namespace
}  // namespace gputomo::cli::testing
