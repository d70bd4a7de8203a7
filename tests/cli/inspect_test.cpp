// `gputomo inspect`: what machine code is, and assertions about it.
#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <numeric>
#include <string>
#include <vector>

namespace gputomo::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

class Inspect : public ProgramTest {
protected:
    static constexpr const char* kAdvice = "tests/answer/fixtures/advice.cubin";

    [[nodiscard]] Ran inspect(const std::string& file, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> arguments{"inspect", source(file)};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }
};

TEST_F(Inspect, ListsInstructionsWithWhatTheSchedulerIsTold) {
    const auto ran = inspect("tests/machine_code/fixtures/vector_add.cubin");
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("vector_add for sm_90\n"), HasSubstr("registers     12 of a thread")));
    // The sum waits for both loads, and comes 4 cycles later.
    EXPECT_THAT(ran.out, ContainsRegex(" 5y W- R- ---3-- +4 +1  0x00e0  FADD R9, R2, R5\n"));
    EXPECT_THAT(ran.out, ContainsRegex(" 1  W3 R- ------ +- +-  0x00a0  LDG.E R2"));
    EXPECT_THAT(inspect("tests/machine_code/fixtures/vector_add.cubin", {"--summary"}).out, Not(HasSubstr("0x00e0")));
}

TEST_F(Inspect, InstructionsStandBelowTheLineThatTheyComeFrom) {
    const auto python = inspect("tests/data/cubin/triton_scatter.sm_90a.cubin");
    EXPECT_EQ(python.code, 0) << python.err;
    EXPECT_THAT(python.out, ContainsRegex("// kernels.py:88\n[^\n]*0x0000[^\n]*\n// kernels.py:89\n[^\n]*0x0010"));
    const auto inlined = inspect("tests/answer/fixtures/advice/block_size.cubin", {"--kernel", "block_size"});
    EXPECT_THAT(inlined.out, HasSubstr("\n// suite.hpp:64 from block_size.cu:9 from block_size.cu:13\n"));
    const auto json = Json::parse(inspect("tests/data/cubin/triton_scatter.sm_90a.cubin", {"--json"}).out);
    EXPECT_EQ(json["kernels"][0]["instructions"][0]["file"], "/home/user/kernels.py");
    EXPECT_EQ(json["kernels"][0]["instructions"][0]["line"], 88);
    EXPECT_THAT(inspect("tests/machine_code/fixtures/vector_add.cubin").out, Not(HasSubstr("//")));
}

TEST_F(Inspect, CountsAreThoseOfTheListing) {
    const auto json = Json::parse(inspect(kAdvice, {"--json"}).out);
    EXPECT_EQ(json["schema"], "gputomo-inspection-1");
    EXPECT_EQ(json["costs_of"], "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(json["kernels"].size(), 10);
    for (const auto& kernel : json["kernels"]) {
        for (const std::string table : {"mix", "operations"}) {
            std::size_t sum = 0;
            for (const auto& count : kernel[table]) sum += count.get<std::size_t>();
            EXPECT_EQ(sum, kernel["instructions"].size()) << kernel["kernel"];
        }
        EXPECT_EQ(kernel["local_loads"].get<int>() > 0, kernel["kernel"] == "spilled");
        EXPECT_EQ(kernel["static_shared_bytes"], kernel["kernel"] == "conflicts" ? 4096 : 0);
    }
}

TEST_F(Inspect, AssertionsDecideTheExitCode) {
    const auto all = inspect(kAdvice, {"--summary", "--assert", "spills==0", "--assert", "registers <= 64"});
    EXPECT_EQ(all.code, 1);
    EXPECT_THAT(all.err, ContainsRegex("^gputomo: --assert spills==0: spilled has [0-9]+\n$"));
    EXPECT_EQ(inspect(kAdvice, {"--kernel", "copy", "--assert", "spills==0"}).code, 0);
    EXPECT_EQ(inspect(kAdvice,
                      {"--kernel", "uneven", "--assert", "FFMA>0", "--assert", "HMMA==0", "--assert", "UCGABAR_ARV==0"})
                  .code,
              0);
    EXPECT_EQ(inspect(kAdvice, {"--kernel", "uneven", "--assert", "FFMA!=0", "--assert", "FADD>=1"}).code, 1);
    for (const std::string wrong : {"spill==0", "spills", "spills=0", "spills==none", "==1", "HMA==0", "hmma==0"}) {
        const auto ran = inspect(kAdvice, {"--assert", wrong});
        EXPECT_EQ(ran.code, 2) << wrong;
        EXPECT_THAT(ran.err, AllOf(HasSubstr("--assert " + wrong), HasSubstr("one of spills, registers")));
    }
}

TEST_F(Inspect, WhatItCannotReadIsNamed) {
    const auto refused = [&](const std::string& file, const std::string& part, std::vector<std::string> more = {}) {
        const auto ran = inspect(file, more);
        EXPECT_EQ(ran.code, 2) << file;
        EXPECT_THAT(ran.err, HasSubstr(part));
    };
    refused("tests/data/ptx/vector_add.ptx", "is PTX");
    refused("tests/data/cubin/opcodes.sm_75.cubin", "is for sm_75; expected sm_80, sm_86, sm_89 or sm_90");
    refused(kAdvice, "no kernel 'k'; expected one of", {"--kernel", "k"});
    refused("tests/none.cubin", "cannot be opened");
}

/// Code of other compilers and of other kernels than the ones above.
TEST_F(Inspect, ReadsOtherCode) {
    for (const std::string file :
         {"tests/data/cubin/triton_scatter.sm_90a.cubin", "tests/machine_code/fixtures/sgemm.cubin",
          "tests/machine_code/fixtures/textures.cubin"})
        EXPECT_EQ(inspect(file, {"--assert", "instructions>10"}).code, 0) << file;
    EXPECT_THAT(inspect("tests/data/cubin/triton_scatter.sm_90a.cubin", {"--summary"}).out,
                HasSubstr("block         128 x 1 x 1 threads, no other"));
}

}  // namespace
}  // namespace gputomo::cli::testing
