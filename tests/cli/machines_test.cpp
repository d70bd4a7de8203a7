// Tests of the ways to name a machine on the command line: descriptions, recorded scans and built-in ones.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST_F(Machines, ASurfaceOfAnotherGpuIsRefused) {
    const auto ran = run({"evaluate", "--surface", source("recordings/h200-surface-sfu.json.gz"), "--machine",
                          source("machines/gtx280.json"), "--access", "sfu"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("was measured on NVIDIA H200; expected a surface of GeForce GTX 280"));
}

}  // namespace
}  // namespace gputomo::cli
