// Tests of the ways to name a machine on the command line: descriptions, recorded scans and built-in ones.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gputomo::cli {
namespace {

using ::testing::HasSubstr;

class Machines : public testing::ProgramTest {};

TEST_F(Machines, ARecordedScanStandsForItsDescription) {
    const auto same = run({"diff", source("recordings/h200-scan-2.json.gz"), source("recordings/h200-scan-2.json.gz")});
    EXPECT_EQ(same.code, 0);
    EXPECT_THAT(same.out, HasSubstr(" 0 differ"));
    const auto recorded = run({"export", "--to", "csv", source("recordings/h200-scan-2.json.gz")});
    EXPECT_EQ(recorded.code, 0) << recorded.err;
    EXPECT_THAT(recorded.out, HasSubstr("shared.latency"));
}

TEST_F(Machines, ABuiltInDescriptionNeedsNoFile) {
    EXPECT_EQ(run({"diff", source("machines/gtx280.json"), "sim:gtx280"}).code, 0);
    EXPECT_EQ(run({"diff", source("machines/gtx280.json"), "sim:gtx980"}).code, 1);
    EXPECT_EQ(run({"diff", source("machines/gtx280.json"), "sim:gtx281"}).code, 2);
}

TEST_F(Machines, ABuiltInDescriptionIsFoundByTheGpusName) {
    for (const auto* name : {"GTX280", "GeForce GTX 280", "sim:GTX280"})
        EXPECT_EQ(run({"diff", source("machines/gtx280.json"), name}).code, 0) << name;
    const auto other = run({"diff", source("machines/gtx280.json"), "GTX 280M"});
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("GTX 280M: no such machine; expected one of 8800gtx"));
    EXPECT_THAT(run({"diff", source("machines/gtx280.json"), "there/is/none"}).err, HasSubstr("cannot be opened"));
    const std::vector<std::string> launch{source("tests/data/cubin/stream_copy_x4.sm_90.cubin"),
                                          "--kernel",
                                          "stream_copy_x4",
                                          "--grid",
                                          "4",
                                          "--block",
                                          "32",
                                          "--arg",
                                          "buf:4096",
                                          "--arg",
                                          "buf:4096",
                                          "--arg",
                                          "u64:128",
                                          "--arg",
                                          "u32:2"};
    const auto answer_of = [&](const std::string& command, const std::string& option, const std::string& machine) {
        std::vector<std::string> arguments{command, option, machine, "--json"};
        arguments.insert(arguments.begin() + 1, launch.begin(), launch.end());
        const auto ran = run(arguments);
        EXPECT_EQ(ran.code, 0) << ran.err;
        const auto at = ran.out.find("\"microseconds\"");
        EXPECT_NE(at, std::string::npos);
        return ran.out.substr(std::min(at, ran.out.size()), 40);
    };
    EXPECT_EQ(answer_of("predict", "--machine", "NVIDIA H200"), answer_of("predict", "--machine", "h200"));
    EXPECT_EQ(answer_of("simulate", "--device", "H200"), answer_of("simulate", "--device", "sim:h200"));
}

TEST_F(Machines, ASurfaceOfAnotherGpuIsRefused) {
    const auto ran = run({"evaluate", "--surface", source("recordings/h200-surface-sfu.json.gz"), "--machine",
                          source("machines/gtx280.json"), "--access", "sfu"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("was measured on NVIDIA H200; expected a surface of GeForce GTX 280"));
}

}  // namespace
}  // namespace gputomo::cli
