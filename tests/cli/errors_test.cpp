// Tests of faulty command lines and files: the exit code, and a message with the fault and what was expected.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Ran;
using ::testing::StartsWith;

class Errors : public testing::ProgramTest {
protected:
    /// Runs the command line and expects the exit code `code`, a message with all of `parts`, and nothing on stdout.
    void expect(int code, const std::vector<std::string>& arguments, const std::vector<std::string>& parts) const {
        SCOPED_TRACE(::testing::PrintToString(arguments));
        const auto ran = run(arguments);
        EXPECT_EQ(ran.code, code);
        EXPECT_EQ(ran.out, "");
        EXPECT_THAT(ran.err, StartsWith("gputomo: "));
        for (const auto& part : parts) EXPECT_THAT(ran.err, HasSubstr(part));
        EXPECT_THAT(ran.err, Not(HasSubstr("  0% "))) << "something was measured before";
    }
    /// Writes a PTX module whose one entry k() has these lines.
    void write_kernel(const std::string& name, const std::string& body, const std::string& parameters = "") const {
        write(name, ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k(" + parameters + ") {\n" + body +
                        "}\n");
    }
    static std::string machine(const std::string& section) {
        return R"({"schema":"gputomo-machine-1",)" + section + "}";
    }
};

TEST_F(Errors, UnknownCommandsAndOptionsAreNamed) {
    expect(2, {}, {"no command given", "list, scan, report, run, diff"});
    expect(2, {"frobnicate"}, {"'frobnicate'", "list, scan, report, run, diff"});
    expect(2, {"list"}, {"no command given", "devices, experiments"});
    expect(2, {"list", "moods"}, {"'moods'", "devices, experiments"});
    expect(2, {"scan", "--bogus"}, {"--bogus"});
    expect(2, {"scan", "--seed", "many"}, {"--seed", "many"});
    expect(2, {"scan", "stray"}, {"stray"});
    expect(2, {"run"}, {"experiment"});
    expect(2, {"diff", "one.json"}, {"b"});
    expect(2, {"diff", "a", "b", "--tolerance", "-1"}, {"--tolerance", "-1"});
    expect(2, {"validate", "--machines", "0"}, {"--machines"});
    expect(2, {"simulate", "f.ptx", "--kernel", "k", "--time-limit", "0"}, {"--time-limit"});
}

TEST_F(Errors, TextWhereANumberIsExpectedIsRefused) {
    expect(2, {"scan", "--seed", "-1"}, {"--seed", "-1", "0 or more"});
    expect(2, {"validate", "--seed", "-1"}, {"--seed", "0 or more"});
    expect(2, {"diff", "a.json", "b.json", "--tolerance", "nan"}, {"--tolerance", "nan", "0 or more"});
}

TEST_F(Errors, EndlessFilesAreRefused) {
    expect(2, {"simulate", "/dev/zero", "--kernel", "k"}, {"/dev/zero", "64 MiB", "a PTX file"});
    expect(2, {"diff", "/dev/zero", "/dev/zero"}, {"/dev/zero", "larger than", "a machine description"});
}

TEST_F(Errors, HelpAndVersionAreNoErrors) {
    const auto help = run({"scan", "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("--device"));
    EXPECT_EQ(help.err, "");
    EXPECT_EQ(run({"--version"}).code, 0);
}

TEST_F(Errors, UnknownExperimentsAreNamed) {
    expect(2, {"scan", "--only", "clok"}, {"'clok'", "attributes, clock"});
    expect(2, {"scan", "--only", "clock,clok"}, {"'clok'", "attributes, clock"});
    expect(2, {"run", "clok"}, {"'clok'", "attributes, clock"});
    EXPECT_FALSE(exists("scan"));
}

TEST_F(Errors, UnknownDevicesAreNamed) {
    expect(3, {"scan", "--device", "cuda:0"}, {"CUDA"});
    expect(3, {"run", "clock", "--device", "cuda:0"}, {"CUDA"});
    expect(2, {"scan", "--device", "cuda:zero"}, {"'cuda:zero'", "a number"});
    expect(2, {"scan", "--device", "cuda:-1"}, {"'cuda:-1'", "a number"});
    expect(2, {"scan", "--device", "gtx280"}, {"'gtx280'", "cuda:N, sim:NAME, sim:FILE.json or auto"});
    expect(2, {"scan", "--device", "sim:gtx28"}, {"'sim:gtx28'", "one of", "gtx280"});
    expect(2, {"scan", "--device", "sim:none.json"}, {"none.json"});
    expect(2, {"scan", "--device", "sim:gtx280", "--noise", "4"}, {"--noise 4", "0 to 3"});
    expect(2, {"simulate", "x.ptx", "--kernel", "k", "--device", "cuda:0"}, {"'cuda:0'", "sim:NAME"});
}

TEST_F(Errors, FaultyMachineDescriptionsAreNamedWithTheField) {
    write("text.json", "GTX 280");
    write("type.json", machine(R"("clock":{"sm_mhz":{"value":"fast","unit":"MHz","source":"s"}})"));
    write("name.json", machine(R"("clock":{"sm_ghz":{"value":1,"unit":"MHz","source":"s"}})"));
    write("few.json", machine(R"("clock":{"scope":{"value":"sm","source":"s"}})"));
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"diff", source("machines/gtx280.json")}, {"diff"}}) {
        const auto with = [&](const std::string& file) {
            auto arguments = command;
            arguments.push_back(file);
            if (arguments.size() == 2) arguments.push_back(source("machines/gtx280.json"));
            return arguments;
        };
        expect(2, with("none.json"), {"none.json: ", "cannot be opened"});
        expect(2, with("."), {".: is a folder"});
        expect(2, with("text.json"), {"text.json: ", "JSON"});
        expect(2, with("type.json"), {"type.json: clock.sm_mhz: ", "\"fast\"", "a number"});
        expect(2, with("name.json"), {"name.json: clock.sm_ghz: ", "sm_mhz"});
    }
    expect(2, {"scan", "--device", "sim:type.json"}, {"type.json: clock.sm_mhz: "});
    expect(2, {"scan", "--device", "sim:few.json"}, {"few.json", "clock.sm_mhz: missing"});
}

TEST_F(Errors, FoldersAndFilesThatCannotBeWrittenAreFoundBeforeAnythingIsMeasured) {
    write("regular", "");
    expect(2, {"scan", "--device", "sim:gtx280", "--out", "regular"}, {"regular: ", "folder"});
    expect(2, {"scan", "--device", "sim:gtx280", "--out", "regular/below"}, {"regular/below: ", "folder"});
    expect(2, {"run", "clock", "--device", "sim:gtx280", "--csv", "regular/samples.csv"},
           {"regular/samples.csv: cannot be written"});
    expect(2, {"run", "clock", "--device", "sim:gtx280", "--csv", "."}, {".: cannot be written"});
}

TEST_F(Errors, FaultyPtxFilesAreNamedWithTheLine) {
    write_kernel("broken.ptx", " .reg .u32 %r<2>;\n mov.u32 %r0, 1;\n add.q32 %r1, %r0, 2;\n ret;\n");
    expect(2, {"simulate", "broken.ptx", "--kernel", "k"},
           {"broken.ptx:7: ", "'add.q32'", "\n    add.q32 %r1, %r0, 2;"});
    expect(2, {"simulate", "none.ptx", "--kernel", "k"}, {"none.ptx: cannot be opened"});
    expect(2, {"simulate", ".", "--kernel", "k"}, {".: found no capture.json", "gputomo capture --out"});
    write_kernel("good.ptx", " ret;\n");
    expect(2, {"simulate", "good.ptx", "--kernel", "kernel"}, {"good.ptx: ", "'kernel'", "one of k"});
    expect(2, {"simulate", "good.ptx"}, {"--kernel"});
    write("empty.ptx", ".version 6.0\n.target sm_30\n.address_size 64\n");
    expect(2, {"simulate", "empty.ptx", "--kernel", "k"}, {"empty.ptx: ", "'k'", ".entry"});
}

TEST_F(Errors, MachineCodeThatCannotBeSimulatedIsNamed) {
    // A note says first what the description of the simulated GPU leaves open.
    const auto refused = [&](std::vector<std::string> arguments, const std::vector<std::string>& parts) {
        arguments.insert(arguments.begin(), "simulate");
        if (arguments.back() != "sim:gtx980") arguments.insert(arguments.end(), {"--device", "sim:h200"});
        const auto ran = run(arguments);
        EXPECT_EQ(ran.code, 2) << ran.err;
        EXPECT_EQ(ran.out, "");
        EXPECT_THAT(ran.err, HasSubstr("\ngputomo: "));
        for (const auto& part : parts) EXPECT_THAT(ran.err, HasSubstr(part));
    };
    const std::string cubin = source("tests/machine_code/fixtures/vector_add.cubin");
    refused({cubin, "--kernel", "k"}, {"vector_add.cubin: no kernel 'k'", "one of vector_add"});
    refused({cubin, "--kernel", "vector_add", "--device", "sim:gtx980"},
            {"--code sass: ", "compute capability 52", "90"});
    refused({cubin, "--kernel", "vector_add", "--code", "ptx"}, {"--code ptx: ", "is a cubin"});
    refused({cubin, "--kernel", "vector_add", "--arg", "buf:4"},
            {"found 1 arguments; expected 3", "vector_add(8 bytes, 8 bytes, 8 bytes)"});
    refused({cubin, "--kernel", "vector_add", "--arg", "buf:4", "--arg", "u32:1", "--arg", "buf:4"},
            {"--arg u32:1: has 4 bytes; expected the 8 of parameter 1"});
    write("cut.cubin",
          "\x7f"
          "ELF cut off");
    refused({"cut.cubin", "--kernel", "k"}, {"cut.cubin: cubin"});
    expect(2, {"simulate", cubin, "--kernel", "vector_add", "--code", "hex"}, {"--code"});
}

TEST_F(Errors, PtxIsCompiledByThePtxasOnThePath) {
    write_kernel("good.ptx", " ret;\n");
    const auto simulate = [&](const std::string& folder) {
        const std::string before = std::getenv("PATH");
        setenv("PATH", folder.c_str(), 1);
        auto ran = run({"simulate", "good.ptx", "--kernel", "k", "--device", "sim:h200", "--code", "sass"});
        setenv("PATH", before.c_str(), 1);
        return ran;
    };
    const auto none = simulate("empty");
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, AllOf(HasSubstr("no ptxas on the PATH"), HasSubstr("sm_90")));
    std::filesystem::create_directory(path("tools"));
    write("tools/ptxas", "#!/bin/sh\necho error : line 1 >&2\nexit 255\n");
    std::filesystem::permissions(path("tools/ptxas"), std::filesystem::perms::owner_all);
    const auto refused = simulate(path("tools"));
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("good.ptx: "), HasSubstr("ptxas refuses it"), HasSubstr("line 1")));
    write("tools/ptxas", "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\n/bin/cp " +
                             source("tests/machine_code/fixtures/vector_add.cubin") + " \"$1\"\n");
    EXPECT_THAT(simulate(path("tools")).err, HasSubstr("module has no kernel 'k'"));
}

TEST_F(Errors, ArgumentsThatDoNotFitTheKernelAreRefused) {
    write_kernel("k.ptx", " ret;\n", ".param .u64 to, .param .u32 n");
    write("nine", "123456789");
    const auto with = [](const std::vector<std::string>& arguments) {
        std::vector<std::string> all{"simulate", "k.ptx", "--kernel", "k"};
        for (const auto& argument : arguments) all.insert(all.end(), {"--arg", argument});
        return all;
    };
    expect(2, with({}), {"found 0", "expected 2", "k(u64 to, u32 n)"});
    expect(2, with({"buf:8", "u32:1", "u32:1"}), {"found 3", "expected 2"});
    expect(2, with({"u32:1", "u32:1"}), {"--arg u32:1", "4 bytes", "8 of to"});
    expect(2, with({"buf:8", "u32"}), {"--arg u32", "TYPE:VALUE"});
    expect(2, with({"buf:8", "u33:1"}), {"--arg u33:1", "u32, s32, u64"});
    expect(2, with({"buf:8", "u32:-1"}), {"--arg u32:-1", "not negative"});
    expect(2, with({"buf:8", "u32:4294967296"}), {"--arg u32:4294967296", "its type"});
    expect(2, with({"buf:8", "u32:1x"}), {"--arg u32:1x", "whole number"});
    expect(2, with({"buf:8", "s32:1.5"}), {"--arg s32:1.5", "whole number"});
    expect(2, with({"buf:8", "f32:"}), {"--arg f32:", "a number"});
    expect(2, with({"buf:0", "u32:1"}), {"--arg buf:0", "positive"});
    expect(2, with({"buf:8:none", "u32:1"}), {"none: cannot be opened"});
    expect(2, with({"buf:8:nine", "u32:1"}), {"--arg buf:8:nine", "9 bytes"});
}

TEST_F(Errors, ImpossibleLaunchesAndDumpsAreRefused) {
    write_kernel("k.ptx", " ret;\n");
    write("regular", "");
    const auto with = [](const std::vector<std::string>& options) {
        std::vector<std::string> all{"simulate", "k.ptx", "--kernel", "k"};
        all.insert(all.end(), options.begin(), options.end());
        return all;
    };
    expect(2, with({"--grid", "0"}), {"--grid 0", "from 1 to"});
    expect(2, with({"--grid", "-1"}), {"--grid -1", "from 1 to"});
    expect(2, with({"--block", "1,2,3,4"}), {"--block 1,2,3,4", "X[,Y,Z]"});
    expect(2, with({"--block", "1,,2"}), {"--block 1,,2", "whole number"});
    expect(2, with({"--block", "513"}), {"--block 513", "512", "GTX 280"});
    expect(2, with({"--shared", "16385"}), {"--shared", "16384"});
    expect(2, with({"--dump", "0:out"}), {"--dump 0:out", "0 buffers"});
    write_kernel("k.ptx", " ret;\n", ".param .u64 to");
    expect(2, with({"--arg", "buf:8", "--dump", "0"}), {"--dump 0", "N:FILE"});
    expect(2, with({"--arg", "buf:8", "--dump", "0:"}), {"--dump 0:", "N:FILE"});
    expect(2, with({"--arg", "buf:8", "--dump", "0:regular/out"}), {"regular/out: cannot be written"});
}

TEST_F(Errors, AnEndlessKernelEndsAtTheTimeLimit) {
    write_kernel("k.ptx", "AGAIN:\n bra AGAIN;\n");
    expect(4, {"simulate", "k.ptx", "--kernel", "k", "--time-limit", "100"}, {"launch of k", "100 ms", "line 6"});
}

TEST_F(Errors, ADeadlockIsReportedWithWarpAndInstruction) {
    write_kernel("k.ptx",
                 " .reg .u32 %t; .reg .pred %p;\n mov.u32 %t, %tid.x;\n setp.lt.u32 %p, %t, 32;\n @%p bra DONE;\n"
                 " bar.sync 0, 64;\nDONE:\n ret;\n");
    expect(1, {"simulate", "k.ptx", "--kernel", "k", "--block", "64"},
           {"launch of k", "deadlock", "warp 1 waits at line 9: bar.sync 0, 64"});
}

TEST_F(Errors, AnIllegalAccessIsReportedWithItsThread) {
    write_kernel(
        "k.ptx",
        " .reg .u64 %a; .reg .u32 %v;\n mov.u64 %a, 16;\n ld.global.u32 %v, [%a];\n st.global.u32 [%a], %v;\n ret;\n");
    expect(1, {"simulate", "k.ptx", "--kernel", "k"}, {"launch of k", "thread 0", "line 7"});
}

}  // namespace
}  // namespace gputomo::cli
