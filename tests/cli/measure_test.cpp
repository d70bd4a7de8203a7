// `gputomo measure` and --caches as a user runs them, without a GPU. tests/cuda measures with a fake driver.
#include "program.hpp"

#include "units/sha256.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

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

/// Measures with the fake driver. Its kernel "endless" never ends, "waits" ends once, and "kills" ends the process.
class MeasureOnFakeGpu : public MeasureCommand {
protected:
    void SetUp() override {
        MeasureCommand::SetUp();
        if (const char* const before = std::getenv("LD_LIBRARY_PATH")) before_ = before;
        std::filesystem::create_directory(path("lib"));
        std::filesystem::create_symlink(GPUTOMO_FAKE_CUDA, path("lib/libcuda.so.1"));
        setenv("LD_LIBRARY_PATH", path("lib").c_str(), 1);
    }
    void TearDown() override {
        before_.empty() ? unsetenv("LD_LIBRARY_PATH") : setenv("LD_LIBRARY_PATH", before_.c_str(), 1);
        MeasureCommand::TearDown();
    }
    /// Writes a capture with a launch of each of these kernels, which take the address of a word.
    void write_capture(const std::vector<std::string>& kernels) const {
        using Json = nlohmann::ordered_json;
        Json modules = Json::array(), named = Json::array(), launches = Json::array();
        std::filesystem::create_directories(path("taken/modules"));
        for (const auto& kernel : kernels) {
            const std::string code = ".version 7.0\n.entry " + kernel + "(.param .u64 a)\n";
            const std::string hash = sha256(code), file = "modules/" + hash + ".ptx";
            write("taken/" + file, code);
            named.push_back({{"name", kernel}, {"readable", kernel}, {"module", modules.size()}});
            modules.push_back({{"sha256", hash}, {"file", file}, {"format", "ptx"}, {"bytes", code.size()}});
            const Json word{{"space", "device"}, {"address", "0x610000000000"}, {"bytes", 8}, {"content", {kZeros}}};
            const Json address{{"offset", 0}, {"value", "0000000000610000"}};
            launches.push_back({{"process", 0},
                                {"gpu", 0},
                                {"stream", 0},
                                {"thread", 0},
                                {"host_us", 1.0},
                                {"launch",
                                 {{"kernel", launches.size()},
                                  {"grid", {1, 1, 1}},
                                  {"block", {32, 1, 1}},
                                  {"shared_bytes", 0},
                                  {"parameters", {address}}}},
                                {"buffers", {word}}});
        }
        auto capture = Json::parse(read_source(std::string(kCapture) + "/capture.json"));
        capture["modules"] = modules;
        capture["kernels"] = named;
        capture["launches"] = launches;
        write("taken/capture.json", capture.dump());
    }

private:
    static std::string read_source(const std::string& name) {
        std::ifstream in(source(name));
        return {std::istreambuf_iterator<char>(in), {}};
    }
    const nlohmann::ordered_json kZeros{{"offset", 0}, {"bytes", 8}, {"fill", "0x0000000000000000"}};
    std::string before_;
};

TEST_F(MeasureOnFakeGpu, ALaunchThatNeverEndsCostsNoOther) {
    write_capture({"work", "endless", "waits", "kills", "work2"});
    const auto ran = run(
        {"measure", path("taken"), "--device", "cuda:0", "--repeat", "2", "--time-limit", "1500", "--out", "m.json"});
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("launch 2 does not end on the memory that its own first run left"));
    const auto launches = nlohmann::json::parse(read("m.json"))["launches"];
    ASSERT_EQ(launches.size(), 5U);
    for (const int measured : {0, 2, 4}) {
        EXPECT_EQ(launches[measured]["cold"]["cycles_beyond_empty"], 10'000) << launches[measured];
        EXPECT_EQ(launches[measured]["restored"], measured == 2);
    }
    EXPECT_THAT(launches[1]["failed"].get<std::string>(),
                HasSubstr("kernel endless, grid 1x1x1, block 32x1x1, 0 B dynamic shared memory did not end within its "
                          "time limit of 1500 ms"));
    EXPECT_THAT(launches[3]["failed"].get<std::string>(), HasSubstr("the process that measures was ended by signal 9"));
    EXPECT_EQ(nlohmann::json::parse(read("m.json"))["origin"]["gpu"]["device"], "cuda:0");
}

}  // namespace
}  // namespace gputomo::cli::testing
