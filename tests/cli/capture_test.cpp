// `gputomo capture` as a user runs it, with programs that use no GPU. tests/capture records kernels.
#include "program.hpp"

#include <gmock/gmock.h>

namespace gputomo::cli::testing {
namespace {

using ::testing::HasSubstr;

class CaptureCommand : public ProgramTest {};

TEST_F(CaptureCommand, PassesOutputAndExitCodeOnAndSaysThatNoKernelWasLaunched) {
    const auto ran = run({"capture", "--out", "c", "--", "sh", "-c", "echo said; exit 7"});
    EXPECT_EQ(ran.code, 7);
    EXPECT_EQ(ran.out, "said\n");
    EXPECT_THAT(ran.err, HasSubstr("the program launched no kernel that was recorded"));
    EXPECT_THAT(read("c/capture.json"), HasSubstr("\"exit_code\": 7"));
}

TEST_F(CaptureCommand, ReportsTheSignalThatEndedTheProgram) {
    EXPECT_EQ(run({"capture", "--out", "c", "--", "sh", "-c", "kill -9 $$"}).code, 128 + 9);
}

TEST_F(CaptureCommand, KeepsAnOlderCaptureUntilThereIsANewOne) {
    ASSERT_EQ(run({"capture", "--out", "c", "--", "true"}).code, 0);
    const auto before = read("c/capture.json");
    EXPECT_EQ(run({"capture", "--out", "c", "--", "./no_such_program"}).code, 2);
    EXPECT_EQ(read("c/capture.json"), before);
    EXPECT_EQ(run({"capture", "--out", "c", "--", "false"}).code, 1);
    EXPECT_NE(read("c/capture.json"), before);
}

TEST_F(CaptureCommand, RefusesWhatItCannotDo) {
    EXPECT_EQ(run({"capture", "--out", "c"}).code, 2) << "no program";
    const auto launches = run({"capture", "--out", "c", "--launches", "1:x", "--", "true"});
    EXPECT_EQ(launches.code, 2);
    EXPECT_THAT(launches.err, HasSubstr("--launches 1:x: expected FIRST or FIRST:COUNT"));
    EXPECT_EQ(run({"capture", "--out", "c", "--max-memory", "-1", "--", "true"}).code, 2);
    EXPECT_EQ(run({"capture", "--out", "c", "--kernel", "[", "--", "true"}).code, 2);
    write("full/file", "content");
    EXPECT_THAT(run({"capture", "--out", "full", "--", "true"}).err, HasSubstr("something that is not a capture"));
}

TEST_F(CaptureCommand, ReductionNeedsACaptureWithMemory) {
    EXPECT_THAT(run({"capture", "--out", "small"}).err, HasSubstr("program: missing"));
    EXPECT_THAT(run({"capture", "--reduce", "absent", "--out", "small"}).err, HasSubstr("found no capture.json"));
    ASSERT_EQ(run({"capture", "--out", "c", "--", "true"}).code, 0);
    const auto none = run({"capture", "--reduce", "c", "--out", "small"});
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("c: no launch of a kernel that was asked for has memory"));
    EXPECT_THAT(run({"capture", "--reduce", "c", "--out", "small", "--launch", "3"}).err,
                HasSubstr("--launch 3: c has 0 launches"));
    EXPECT_THAT(run({"capture", "--reduce", "c", "--out", "small", "--kernel", "("}).err, HasSubstr("--kernel (:"));
    const auto both = run({"capture", "--reduce", "c", "--out", "small", "--", "true"});
    EXPECT_EQ(both.code, 2);
    EXPECT_THAT(both.err, HasSubstr("found a program too"));
}

}  // namespace
}  // namespace gputomo::cli::testing
