// `gputomo capture` as a user runs it, with programs that use no GPU. tests/capture records kernels.
#include "program.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <utility>

namespace gputomo::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CaptureCommand : public ProgramTest {
protected:
    /// Captures a program that uses a fake driver; `then` is what its shell does after it has launched two kernels.
    [[nodiscard]] Ran capture_launches(const std::string& then, const How& how = {}) const {
        const std::string program = "LD_LIBRARY_PATH='" GPUTOMO_FAKE_DRIVER_FOLDER "' '" GPUTOMO_RECORDED_PROGRAM
                                    "' proc '" +
                                    source("tests/data/cubin/opcodes.sm_90.cubin") + "' opcodes library";
        return run({"capture", "--out", "c", "--", "sh", "-c", program + "; " + then}, how);
    }
    [[nodiscard]] std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> found;
        for (const auto& file : std::filesystem::recursive_directory_iterator(path("c")))
            if (file.is_regular_file()) found[file.path()] = read(file.path());
        return found;
    }
};

/// An index without launches, as older versions write it for a program that launches nothing.
constexpr const char* kEmptyIndex = R"({"schema": "gputomo-capture-1", "version": "0", "commit": "0", "date": "",
"command": ["true"], "exit_code": 0, "wall_seconds": 1, "gpus": [], "processes": [], "modules": [], "kernels": [],
"graphs": [], "memory": [], "launches": []})";

TEST_F(CaptureCommand, PassesOutputAndExitCodeOnAndSaysThatNoKernelWasLaunched) {
    const auto ran = run({"capture", "--out", "c", "--", "sh", "-c", "echo said; exit 7"});
    EXPECT_EQ(ran.code, 7);
    EXPECT_EQ(ran.out, "said\n");
    EXPECT_THAT(ran.err, AllOf(HasSubstr("the program has ended and launched no kernel that was recorded"),
                               HasSubstr("nothing was written to c")));
    EXPECT_FALSE(exists("c"));
}

TEST_F(CaptureCommand, FailsWhereAProgramThatSucceedsLaunchesNoKernel) {
    EXPECT_EQ(run({"capture", "--out", "c", "--", "true"}).code, 1);
}

TEST_F(CaptureCommand, ReportsTheSignalThatEndedTheProgram) {
    EXPECT_EQ(run({"capture", "--out", "c", "--", "sh", "-c", "kill -9 $$"}).code, 128 + 9);
    EXPECT_EQ(run({"capture", "--out", "c", "--", "sh", "-c", "kill -2 $$"}).code, 130);
}

TEST_F(CaptureCommand, ARunWithoutLaunchesLeavesAnOlderCaptureAlone) {
    ASSERT_EQ(capture_launches("exit 0").code, 0);
    const auto before = files();
    for (const auto& [program, code] :
         {std::pair("true", 1), {"exit 1", 1}, {"exit 7", 7}, {"kill -2 $$", 130}, {"kill -11 $$", 128 + 11}}) {
        const auto ran = run({"capture", "--out", "c", "--", "sh", "-c", program});
        EXPECT_EQ(ran.code, code) << program;
        EXPECT_THAT(ran.err, AllOf(HasSubstr("launched no kernel that was recorded"),
                                   HasSubstr("the capture that c had is unchanged")));
        EXPECT_EQ(files(), before) << program;
    }
    EXPECT_EQ(run({"capture", "--out", "c", "--", "./no_such_program"}).code, 2);
    for (const int signal : {SIGINT, SIGTERM}) {
        const auto ran = run({"capture", "--out", "c", "--", "sh", "-c", "echo ready >&2; exec sleep 1"},
                             {.interrupt_at = "ready", .signal = signal});
        EXPECT_EQ(ran.code, 130) << signal;
        EXPECT_THAT(ran.err, HasSubstr("the program was interrupted and launched no kernel"));
        EXPECT_EQ(files(), before) << signal;
    }
}

TEST_F(CaptureCommand, AnInterruptedRunKeepsItsLaunchesAndAnOlderCapture) {
    ASSERT_EQ(capture_launches("exit 0").code, 0);
    const auto before = files();
    const auto cut = capture_launches("echo ready >&2; exec sleep 1", {.interrupt_at = "ready", .signal = SIGTERM});
    EXPECT_EQ(cut.code, 130);
    EXPECT_THAT(cut.err, AllOf(HasSubstr("the program was interrupted after 2 launches"), HasSubstr("c/partial"),
                               HasSubstr("the capture that c had is unchanged")));
    EXPECT_THAT(cut.out, HasSubstr("2 launches of 1 kernels"));
    EXPECT_THAT(read("c/partial/capture.json"), HasSubstr("\"exit_code\": 143"));
    for (const auto& [file, content] : before) EXPECT_EQ(read(file), content) << file;
}

TEST_F(CaptureCommand, ARunThatFailsByItselfReplacesAnOlderCapture) {
    ASSERT_EQ(capture_launches("exit 0").code, 0);
    EXPECT_EQ(capture_launches("exit 255").code, 255);
    EXPECT_THAT(read("c/capture.json"), HasSubstr("\"exit_code\": 255"));
    EXPECT_FALSE(exists("c/partial"));
}

TEST_F(CaptureCommand, AnInterruptedRunIsTheCaptureOfAFolderWithoutOne) {
    const auto cut = capture_launches("kill -2 $$");
    EXPECT_EQ(cut.code, 130);
    EXPECT_THAT(cut.err, HasSubstr("the program was interrupted after 2 launches"));
    EXPECT_TRUE(exists("c/capture.json"));
    EXPECT_FALSE(exists("c/partial"));
}

TEST_F(CaptureCommand, SaysAtOnceWhatTheLimitOfMemoryLeftOut) {
    const std::string program = "LD_LIBRARY_PATH='" GPUTOMO_FAKE_DRIVER_FOLDER "' '" GPUTOMO_RECORDED_PROGRAM
                                "' proc '" +
                                source("tests/data/cubin/opcodes.sm_90.cubin") + "' opcodes library";
    const auto ran = run({"capture", "--out", "c", "--max-memory", "1000", "--", "sh", "-c", program});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("--max-memory 1000: the memory of 1 launches, from launch 0 on, is not whole"),
                               HasSubstr("400000 bytes more were wanted"), HasSubstr("--max-memory 401000")));
    EXPECT_THAT(ran.out, HasSubstr("the times of 2 launches contain waiting for the host"));
    EXPECT_THAT(read("c/capture.json"), HasSubstr("\"launches_left_out\": 1"));
    EXPECT_THAT(capture_launches("exit 0").err, Not(HasSubstr("--max-memory")));
}

TEST_F(CaptureCommand, OtherCommandsDoNotWriteOverTheFilesOfACapture) {
    ASSERT_EQ(capture_launches("exit 0").code, 0);
    const auto before = files();
    for (const auto& [file, content] : before) {
        const auto ran = run({"report", "sim:gtx280", "--out", file});
        EXPECT_EQ(ran.code, 2) << file;
        EXPECT_THAT(ran.err, AllOf(HasSubstr(file), HasSubstr("belongs to the files that"), HasSubstr("capture.json")));
    }
    EXPECT_EQ(files(), before);
    EXPECT_EQ(run({"report", "sim:gtx280", "--out", "c/report.html"}).code, 0) << "belongs to no set";
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
    write("c/capture.json", kEmptyIndex);
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

TEST_F(CaptureCommand, ReductionRefusesToReplaceTheCaptureThatItReads) {
    ASSERT_EQ(capture_launches("exit 0").code, 0);
    const auto before = files();
    std::filesystem::create_directory_symlink("c", path("link"));
    for (const char* const out : {"c", "c/", "./c", "link"}) {
        const auto ran = run({"capture", "--reduce", "c", "--out", out, "--unproven"});
        EXPECT_EQ(ran.code, 2) << out;
        EXPECT_THAT(ran.err, AllOf(HasSubstr(std::string("--out ") + out), HasSubstr("expected another folder")));
    }
    EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace gputomo::cli::testing
