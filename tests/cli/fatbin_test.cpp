// Fatbins as inputs of `gputomo simulate` and `gputomo predict`, and other files that hold no kernel.
#include "../capture/fatbins.hpp"
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace gputomo::cli {
namespace {

using capture::FatbinMember;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Ran = testing::Ran;

constexpr std::uint16_t kPtx = 1, kCubin = 2;

class Fatbins : public testing::ProgramTest {
protected:
    void SetUp() override {
        ProgramTest::SetUp();
        using capture::testing::fatbin;
        using capture::testing::member;
        const auto cubin = member(kCubin, 90, read(source("tests/machine_code/fixtures/vector_add.cubin")),
                                  FatbinMember::Compression::zstd);
        const auto ptx = member(kPtx, 80, read(source("tests/data/ptx/vector_add.ptx")) + '\0');
        write("both", fatbin(ptx + cubin));
        write("cubin", fatbin(cubin));
        write("ptx", fatbin(ptx));
        write("none", fatbin(""));
        write("cut", fatbin(cubin).substr(0, 300));
    }
    /// The kernel has a fourth parameter in PTX only.
    [[nodiscard]] Ran simulated(const std::string& file, bool is_ptx, std::vector<std::string> more) const {
        more.insert(more.begin(), {"simulate", file, "--kernel", "vector_add", "--grid", "1", "--block", "4"});
        return launched(std::move(more), is_ptx);
    }
    [[nodiscard]] Ran launched(std::vector<std::string> arguments, bool is_ptx) const {
        for (int i = 0; i < 3; ++i) arguments.insert(arguments.end(), {"--arg", "buf:16"});
        if (is_ptx) arguments.insert(arguments.end(), {"--arg", "u32:4"});
        return run(arguments);
    }
};

TEST_F(Fatbins, SimulateTakesMachineCodeBeforePtx) {
    const auto both = simulated("both", false, {"--device", "sim:h200"});
    EXPECT_EQ(both.code, 0) << both.err;
    EXPECT_THAT(both.out, HasSubstr("from machine code"));
    EXPECT_EQ(simulated("both", true, {"--device", "sim:h200", "--code", "ptx"}).code, 0);
    EXPECT_EQ(simulated("both", true, {"--device", "sim:gtx980"}).code, 0);
    EXPECT_EQ(simulated("ptx", true, {}).code, 0);
}

/// The H200's description with another compute capability: the costs of sm_80 code are those that it names.
TEST_F(Fatbins, MachineCodeOfComputeCapability8GivesWhatThatOf9Gives) {
    const std::string file = source("tests/machine_code/fixtures/forms.fatbin");
    std::map<std::string, std::string> results;
    for (const std::string capability : {"8.0", "8.6", "8.9", "9.0"}) {
        auto machine = nlohmann::json::parse(read(source("machines/h200.json")));
        machine["identity"]["compute_capability_major"]["value"] = capability[0] - '0';
        machine["identity"]["compute_capability_minor"]["value"] = capability[2] - '0';
        write("gpu.json", machine.dump());
        for (const std::string kernel : {"hfma_f16", "shared_atomics", "ldmatrix", "ddiv"}) {
            const auto ran = run({"simulate", file,
                                  "--kernel", kernel,
                                  "--device", "sim:gpu.json",
                                  "--code",   "sass",
                                  "--grid",   "2",
                                  "--block",  "128",
                                  "--arg",    "buf:49152:" + source("tests/machine_code/fixtures/forms.in"),
                                  "--arg",    "buf:65536",
                                  "--arg",    "u32:4096",
                                  "--dump",   "1:out"});
            ASSERT_EQ(ran.code, 0) << capability << " " << kernel << ": " << ran.err;
            EXPECT_THAT(ran.out, HasSubstr("from machine code"));
            const auto [found, is_first] = results.try_emplace(kernel, read("out"));
            EXPECT_EQ(found->second, read("out")) << capability << " " << kernel;
        }
    }
}

TEST_F(Fatbins, MachineCodeForAnotherGpuIsRefused) {
    auto cubin = read(source("tests/machine_code/fixtures/vector_add.cubin"));
    constexpr std::size_t kComputeCapability = 49;  // in the flags of the file
    ASSERT_EQ(cubin[kComputeCapability], 90);
    cubin[kComputeCapability] = 80;
    write("old.cubin", cubin);
    EXPECT_THAT(simulated("old.cubin", false, {"--device", "sim:h200"}).err,
                HasSubstr("old.cubin: its machine code is for sm_80, and NVIDIA H200 has compute capability 9.0; "
                          "expected machine code for sm_90, or PTX"));
}

TEST_F(Fatbins, PredictTakesMachineCode) {
    const auto ran = launched(
        {"predict", "both", "--kernel", "vector_add", "--machine", "sim:h200", "--grid", "1", "--block", "4"}, false);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("vector_add on NVIDIA H200"));
    EXPECT_THAT(run({"predict", "both", "--kernel", "vector_add", "--machine", "sim:h200", "--static"}).err,
                HasSubstr("--static: both is machine code"));
}

TEST_F(Fatbins, OneWithoutFittingCodeIsNamedWithWhatItHas) {
    const auto ran = simulated("cubin", false, {"--device", "sim:gtx980"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("cubin: is a fatbin with machine code for sm_90; expected PTX. Choose another GPU"));
    EXPECT_THAT(simulated("cubin", false, {"--device", "sim:h200", "--code", "ptx"}).err, HasSubstr("expected PTX"));
    EXPECT_THAT(simulated("none", false, {"--device", "sim:h200"}).err,
                HasSubstr("none: is a fatbin with no code; expected machine code for sm_90 or PTX"));
    EXPECT_THAT(simulated("cut", false, {"--device", "sim:h200"}).err, HasSubstr("cut: fatbin: at offset"));
}

TEST_F(Fatbins, PtxOfOneIsCompiledForPredict) {
    const auto none = launched(
        {"predict", "ptx", "--kernel", "vector_add", "--machine", "sim:h200", "--grid", "1", "--block", "4"}, true);
    if (none.code == 0) GTEST_SKIP() << "there is a ptxas on the PATH";
    EXPECT_THAT(none.err, AllOf(HasSubstr("no ptxas on the PATH"), Not(HasSubstr("--static"))));
}

TEST_F(Fatbins, AProgramForACpuIsNamedAsSuch) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"simulate"}, {"predict", "--machine", "sim:h200", "--grid", "1", "--block", "1"}}) {
        auto arguments = command;
        arguments.insert(arguments.end(), {GPUTOMO_PROGRAM, "--kernel", "k"});
        const auto ran = run(arguments);
        EXPECT_EQ(ran.code, 2);
        EXPECT_THAT(ran.err, HasSubstr("is a program or library for a CPU; expected a PTX file, a cubin or a fatbin"));
    }
}

}  // namespace
}  // namespace gputomo::cli
