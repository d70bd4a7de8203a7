// `simulate --trace` as a user calls it, and Accel-Sim's own reading of what it and `export` write.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace gputomo::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Ran = testing::Ran;

class Traces : public testing::ProgramTest {
protected:
    [[nodiscard]] Ran traced(const std::string& trace, std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments{"simulate", source("tests/machine_code/fixtures/vector_add.cubin"),
                                           "--kernel", "vector_add",
                                           "--device", "sim:h200",
                                           "--grid",   "3",
                                           "--block",  "64",
                                           "--trace",  trace};
        for (int i = 0; i < 3; ++i) arguments.insert(arguments.end(), {"--arg", "buf:768"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
    }
};

TEST_F(Traces, AreAFolderThatListsItsKernels) {
    const auto ran = traced("accel-sim:out");
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(read("out/kernelslist.g"), "kernel-1.traceg\n");
    EXPECT_THAT(read("out/kernel-1.traceg"),
                AllOf(HasSubstr("-kernel name = vector_add\n"), HasSubstr("thread block = 2,0,0\n"),
                      HasSubstr("-binary version = 90\n"), HasSubstr(" LDG.E"), HasSubstr(" EXIT 0 ")));
    EXPECT_THAT(ran.out, AllOf(HasSubstr("kernel-1.traceg: vector_add, 3 blocks"), HasSubstr("warp instructions")));
}

TEST_F(Traces, RefuseWhatMakesNoSense) {
    EXPECT_THAT(traced("out").err, HasSubstr("expected accel-sim:FOLDER or accel-sim-1:FOLDER"));
    EXPECT_THAT(traced("xml:out").err, HasSubstr("expected accel-sim:FOLDER"));
    write("out/something", "");
    EXPECT_THAT(traced("accel-sim:out").err, HasSubstr("expected a new or empty folder"));
    const auto ptx = traced("accel-sim:other", {"--code", "ptx"});
    EXPECT_EQ(ptx.code, 2);
    EXPECT_THAT(ptx.err, HasSubstr("traces have machine code"));
    EXPECT_EQ(traced("accel-sim:other", {"--json"}).code, 2) << "nothing is answered";
    EXPECT_FALSE(exists("other/kernelslist.g"));
}

/// GPUTOMO_ACCEL_SIM names the executable accel-sim.out, which is not part of any package.
TEST_F(Traces, ReplayInAccelSimWithExportedOptions) {
    const char* const simulator = std::getenv("GPUTOMO_ACCEL_SIM");
    if (simulator == nullptr) GTEST_SKIP() << "GPUTOMO_ACCEL_SIM is not set";
    ASSERT_EQ(traced("accel-sim-1:out").code, 0);
    write("h200.config", run({"export", "--to", "accel-sim", "h200"}).out);
    const std::string log = path("log");
    const auto command = std::string(simulator) + " -trace " + path("out/kernelslist.g") + " -config " +
                         path("h200.config") + " > " + log + " 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << read("log");
    EXPECT_THAT(read("log"), AllOf(HasSubstr("gpu_sim_cycle = "), HasSubstr("exit detected")));
}

}  // namespace
}  // namespace gputomo::cli
