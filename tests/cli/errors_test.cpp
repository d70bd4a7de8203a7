// Tests of faulty command lines and files: the exit code, and a message with the fault and what was expected.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

namespace gputomo::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::Ran;

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
    expect(2, {}, {"no command given", "list, doctor, scan, report, run, show, diff"});
    expect(2, {"frobnicate"}, {"'frobnicate'", "list, doctor, scan, report, run, show, diff"});
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
    expect(2, {"diff", "a.json", "b.json", "--tolerance", "nan"}, {"--tolerance", "nan", "expected a number"});
}

/// Options of all commands, from their help texts: "  --seed UINT=1   seed of ...".
struct HelpedOption {
    std::string command, name, type;
};
std::vector<HelpedOption> options_in_help(const std::string& command, const std::string& help) {
    static const std::regex kOption(R"(^  (--[a-z0-9-]+) (TEXT|INT|UINT|FLOAT)\b)");
    std::vector<HelpedOption> options;
    std::istringstream lines(help);
    std::smatch found;
    for (std::string line; std::getline(lines, line);)
        if (std::regex_search(line, found, kOption)) options.push_back({command, found[1], found[2]});
    return options;
}

/// Values that an option of a type refuses, and what its message says. An option may add limits of its own.
struct Refused {
    std::string type, value, found;
};
const Refused kRefused[] = {
    {"TEXT", "", "found nothing"},
    {"INT", "99999999999999999999", "found 99999999999999999999; expected a whole number from -"},
    {"INT", "1.5", "found 1.5; expected a whole number"},
    {"INT", "", "found nothing; expected a whole number"},
    {"UINT", "99999999999999999999",
     "found 99999999999999999999; expected a whole number from 0 to 18446744073709551615"},
    {"UINT", "-1", "found -1; expected a whole number of 0 or more"},
    {"UINT", "1e3", "found 1e3; expected a whole number"},
    {"FLOAT", "nan", "found nan; expected a number"},
    {"FLOAT", "inf", "found inf; expected a number"},
    {"FLOAT", "1x", "found 1x; expected a number"},
};

TEST_F(Errors, EveryOptionOfEveryCommandRefusesWhatItsTypeDoesNotHold) {
    int tried = 0;
    for (const std::string command : {"scan", "run", "report", "diff", "history", "reproduce", "predict", "surface",
                                      "evaluate", "export", "validate", "simulate", "accuracy", "capture"}) {
        const auto options = options_in_help(command, run({command, "--help"}).out);
        EXPECT_FALSE(options.empty()) << command;
        for (const auto& option : options)
            for (const auto& refused : kRefused)
                if (refused.type == option.type) {
                    expect(2, {command, option.name, refused.value}, {option.name + ": " + refused.found});
                    ++tried;
                }
    }
    EXPECT_GT(tried, 100);
}

TEST_F(Errors, NumbersAreDecimalOrHexadecimal) {
    const auto seed_of = [&](const std::string& text) {
        const auto ran = run({"validate", "--caches", "1", "--seed", text, "--json"});
        EXPECT_EQ(ran.code, 0) << ran.err;
        static const std::regex kSeed(R"("seed": ([0-9]+))");
        std::smatch found;
        return std::regex_search(ran.out, found, kSeed) ? found[1].str() : "none";
    };
    EXPECT_EQ(seed_of("010"), "10");
    EXPECT_EQ(seed_of("0x10"), "16");
    EXPECT_EQ(seed_of("18446744073709551615"), "18446744073709551615");
}

TEST_F(Errors, AnEmptyValueTakesNoOtherOptionForItself) {
    expect(2, {"run", "clock", "--csv=", "--device", "sim:gtx280"}, {"--csv=: found nothing; expected a value"});
    expect(2, {"scan", "--out=", "--quiet"}, {"--out=: found nothing; expected a value"});
    EXPECT_EQ(run({"capture", "--out", "c", "--", "sh", "-c", "exit 5", "--x="}).code, 5) << "another program's";
}

/// An option that has no effect with these inputs.
TEST_F(Errors, AnOptionWithoutEffectIsRefused) {
    const std::string cubin = source("tests/machine_code/fixtures/vector_add.cubin");
    const std::string ptx = source("tests/data/ptx/vector_add.ptx"),
                      surface = source("recordings/h200-surface-sfu.json.gz");
    write("c/capture.json", "{}");
    const auto refused = [&](std::vector<std::string> command, const std::string& option, const std::string& value) {
        command.push_back(option);
        if (!value.empty()) command.push_back(value);
        expect(2, command, {option + ": has no effect with ", "; expected it with "});
    };
    const std::vector<std::string> launch{"predict", cubin,   "--kernel", "vector_add", "--machine", "sim:h200",
                                          "--grid",  "1",     "--block",  "32",         "--arg",     "buf:4",
                                          "--arg",   "buf:4", "--arg",    "buf:4"};
    for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{{"--out", "x"},
                                                                                        {"--measured", "x"},
                                                                                        {"--device", "sim:h200"},
                                                                                        {"--noise", "1"},
                                                                                        {"--launch", "0"},
                                                                                        {"--trip-count", "L=1"},
                                                                                        {"--taken", "L"},
                                                                                        {"--untaken", "L"},
                                                                                        {"--transactions", "1=1"},
                                                                                        {"--ways", "1=1"},
                                                                                        {"--l1-hit", "0.5"},
                                                                                        {"--l2-hit", "0.5"}})
        refused(launch, option, value);
    for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{{"--out", "x"},
                                                                                        {"--grid", "1"},
                                                                                        {"--block", "1"},
                                                                                        {"--shared", "1"},
                                                                                        {"--arg", "u32:1"},
                                                                                        {"--static", ""}})
        refused({"predict", "c", "--machine", "sim:h200"}, option, value);
    for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
             {"--grid", "1"}, {"--arg", "u32:1"}, {"--seed", "1"}, {"--time-limit", "5"}, {"--noise", "1"}})
        refused({"predict", ptx, "--kernel", "vector_add", "--machine", "sim:gtx980", "--static"}, option, value);
    refused({"predict", "all", "--machine", "sim:h200", "--measured", "x"}, "--kernel", "k");
    for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{{"--grid", "1"},
                                                                                        {"--block", "1"},
                                                                                        {"--shared", "1"},
                                                                                        {"--arg", "u32:1"},
                                                                                        {"--dump", "0:x"},
                                                                                        {"--code", "ptx"}})
        refused({"simulate", "c"}, option, value);
    refused({"simulate", ptx, "--kernel", "vector_add"}, "--check", "");
    refused({"simulate", ptx, "--kernel", "vector_add"}, "--launch", "0");
    for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
             {"--device", "sim:h200"}, {"--turn", "100"}, {"--seed", "1"}, {"--noise", "1"}, {"--quick", ""}})
        refused({"evaluate", "--surface", surface, "--machine", "sim:h200", "--access", "sfu"}, option, value);
    for (const auto& [option, value] :
         std::vector<std::pair<std::string, std::string>>{{"--machines", "1"}, {"--outstanding", ""}, {"--keep", "x"}})
        refused({"validate", "--caches", "1"}, option, value);
    for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
             {"--launches", "0"}, {"--max-memory", "1"}, {"--results", ""}, {"--no-memory", ""}})
        refused({"capture", "--reduce", "c", "--out", "d"}, option, value);
    refused({"capture", "--out", "d"}, "--unproven", "");
    expect(2, {"predict", "all", "--machine", "sim:h200", "--measured", "x", "--out", "y"}, {"--measured", "--out"});
}

TEST_F(Errors, NoiseIsForSimulatedGpus) {
    expect(2, {"scan", "--device", "cuda:0", "--noise", "1"}, {"--noise 1: has no effect on cuda:0", "simulated GPU"});
}

TEST_F(Errors, PathsThatTheSystemRefusesAreNamed) {
    const std::string name(5000, 'n');
    expect(2, {"simulate", name, "--kernel", "k"},
           {"gputomo: " + name + ": cannot be read or written: File name too long"});
    expect(2, {"predict", name, "--kernel", "k", "--machine", "sim:h200"}, {"cannot be read or written: File name"});
}

TEST_F(Errors, TextThatIsNoJsonIsNamedWithItsPlace) {
    write("bad.json", "{\n \"a\": x}");
    write("empty.json", "");
    const std::vector<std::vector<std::string>> commands{{"diff", "sim:gtx280"},
                                                         {"evaluate", "--machine", "sim:gtx280", "--surface"},
                                                         {"predict", "all", "--machine", "sim:h200", "--measured"},
                                                         {"accuracy", "--captures", "c"}};
    for (auto command : commands) {
        command.emplace_back("bad.json");
        const auto bad = run(command);
        EXPECT_EQ(bad.code, 2);
        EXPECT_THAT(bad.err,
                    AllOf(HasSubstr("gputomo: bad.json: line 2, column 7: not JSON: "), HasSubstr("; expected "),
                          Not(HasSubstr("json.exception")), Not(HasSubstr("parse error"))));
        command.back() = "empty.json";
        EXPECT_THAT(run(command).err, HasSubstr("gputomo: empty.json: not JSON: it is empty; expected "));
    }
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
    expect(2, {"scan", "--device", "sim:gtx28"}, {"gtx28: no such machine", "one of", "gtx280"});
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
    expect(1, {"simulate", "broken.ptx", "--kernel", "k", "--grid", "1", "--block", "1"},
           {"an instruction that cannot be executed", "'add.q32'", "line 7: add.q32 %r1, %r0, 2;"});
    write_kernel("declared.ptx", " .reg .b4096 %r;\n ret;\n");
    expect(2, {"simulate", "declared.ptx", "--kernel", "k"}, {"declared.ptx:5: ", "unknown register type"});
    expect(2, {"simulate", "none.ptx", "--kernel", "k"}, {"none.ptx: cannot be opened"});
    expect(2, {"simulate", ".", "--kernel", "k"}, {".: found no capture.json", "gputomo capture --out"});
    write_kernel("good.ptx", " ret;\n");
    expect(2, {"simulate", "good.ptx", "--kernel", "kernel"}, {"good.ptx: ", "'kernel'", "one of k"});
    expect(2, {"simulate", "good.ptx"}, {"--kernel"});
    write("empty.ptx", ".version 6.0\n.target sm_30\n.address_size 64\n");
    expect(2, {"simulate", "empty.ptx", "--kernel", "k"}, {"empty.ptx: ", "'k'", ".entry"});
}

TEST_F(Errors, MachineCodeThatCannotBeSimulatedIsNamed) {
    const auto refused = [&](std::vector<std::string> arguments, const std::vector<std::string>& parts) {
        arguments.insert(arguments.begin(), "simulate");
        if (arguments.back() != "sim:gtx980") arguments.insert(arguments.end(), {"--device", "sim:h200"});
        arguments.insert(arguments.end(), {"--grid", "1", "--block", "32"});
        const auto ran = run(arguments);
        EXPECT_EQ(ran.code, 2) << ran.err;
        EXPECT_EQ(ran.out, "");
        EXPECT_THAT(ran.err, StartsWith("gputomo: "));
        for (const auto& part : parts) EXPECT_THAT(ran.err, HasSubstr(part));
    };
    const std::string cubin = source("tests/machine_code/fixtures/vector_add.cubin");
    refused({cubin, "--kernel", "k"}, {"vector_add.cubin: no kernel 'k'", "one of vector_add"});
    refused({cubin, "--kernel", "vector_add", "--device", "sim:gtx980"},
            {"vector_add.cubin: machine code is executed on compute capability 8.0, 8.6, 8.9 and 9.0 only, and GeForce "
             "GTX 980 has 5.2; "
             "expected a PTX file, or a GPU of that compute capability"});
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
    const auto simulate = [&](const std::string& folder, const std::string& file = "good.ptx") {
        const std::string before = std::getenv("PATH");
        setenv("PATH", folder.c_str(), 1);
        auto ran = run({"simulate", file, "--kernel", "k", "--grid", "1", "--block", "1", "--device", "sim:h200",
                        "--code", "sass"});
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
    write("arch.ptx", ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n");
    write("tools/ptxas", "#!/bin/sh\necho called with $1\nexit 255\n");
    EXPECT_THAT(simulate(path("tools")).err, HasSubstr("called with -arch=sm_90\n"));
    EXPECT_THAT(simulate(path("tools"), "arch.ptx").err, HasSubstr("called with -arch=sm_90a\n"));
    write("tools/ptxas", "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\n/bin/cp " +
                             source("tests/machine_code/fixtures/vector_add.cubin") + " \"$1\"\n");
    EXPECT_THAT(simulate(path("tools")).err, HasSubstr("no kernel 'k'"));
}

TEST_F(Errors, ArgumentsThatDoNotFitTheKernelAreRefused) {
    write_kernel("k.ptx", " ret;\n", ".param .u64 to, .param .u32 n");
    write("nine", "123456789");
    const auto with = [](const std::vector<std::string>& arguments) {
        std::vector<std::string> all{"simulate", "k.ptx", "--kernel", "k", "--grid", "1", "--block", "1"};
        for (const auto& argument : arguments) all.insert(all.end(), {"--arg", argument});
        return all;
    };
    expect(2, with({}), {"found 0", "expected 2", "k(u64 to, u32 n)"});
    expect(2, with({"buf:8", "u32:1", "u32:1"}), {"found 3", "expected 2"});
    expect(2, with({"u32:1", "u32:1"}), {"--arg u32:1", "4 bytes", "8 of to"});
    expect(2, with({"buf:8", "u32"}), {"--arg u32", "TYPE:VALUE"});
    expect(2, with({"buf:8", "u33:1"}), {"--arg u33:1", "u8 to u64"});
    expect(2, with({"buf:8", "u32:-1"}), {"--arg u32:-1", "not negative"});
    expect(2, with({"buf:8", "u32:4294967296"}), {"--arg u32:4294967296", "its type"});
    expect(2, with({"buf:8", "u32:1x"}), {"--arg u32:1x", "whole number"});
    expect(2, with({"buf:8", "s32:1.5"}), {"--arg s32:1.5", "whole number"});
    expect(2, with({"buf:8", "f32:"}), {"--arg f32:", "a number"});
    expect(2, with({"buf:8", "f32:1024"}), {"--arg f32:1024: has the type f32; expected the u32 of n in k("});
    expect(2, with({"f64:8", "u32:1"}), {"--arg f64:8: has the type f64; expected the u64 of to in k("});
    expect(2, with({"buf:0", "u32:1"}), {"--arg buf:0", "positive"});
    expect(2, with({"buf:8:none", "u32:1"}), {"none: cannot be opened"});
    expect(2, with({"buf:8:nine", "u32:1"}), {"--arg buf:8:nine", "9 bytes"});
}

TEST_F(Errors, ArgumentsFitParametersOfTheirKind) {
    const auto simulate = [&](const std::string& parameter, const std::string& argument) {
        write_kernel("k.ptx", " ret;\n", ".param " + parameter);
        return run({"simulate", "k.ptx", "--kernel", "k", "--grid", "1", "--block", "1", "--arg", argument}).code;
    };
    for (const char* type : {".u32 n", ".s32 n", ".b32 n"}) EXPECT_EQ(simulate(type, "u32:1"), 0) << type;
    for (const char* type : {".f32 n", ".b32 n"}) EXPECT_EQ(simulate(type, "f32:1"), 0) << type;
    for (const char* type : {".u64 n", ".s64 n", ".b64 n", ".align 8 .b8 n[8]"}) {
        EXPECT_EQ(simulate(type, "buf:8"), 0) << type;
        EXPECT_EQ(simulate(type, "s64:-1"), 0) << type;
    }
    EXPECT_EQ(simulate(".f32 n", "s32:1"), 2);
    EXPECT_EQ(simulate(".f64 n", "buf:8"), 2);
}

TEST_F(Errors, ALaunchNeedsItsShape) {
    write_kernel("k.ptx", " ret;\n");
    const std::string cubin = source("tests/machine_code/fixtures/vector_add.cubin");
    expect(2, {"simulate", "k.ptx", "--kernel", "k", "--block", "1"}, {"--grid: missing; expected the blocks"});
    expect(2, {"simulate", "k.ptx", "--kernel", "k", "--grid", "1"}, {"--block: missing; expected the threads"});
    const std::vector<std::string> buffers{"--arg", "buf:4", "--arg", "buf:4", "--arg", "buf:4"};
    for (const std::vector<std::string>& command : {std::vector<std::string>{"simulate", cubin, "--device", "sim:h200"},
                                                    {"predict", cubin, "--machine", "sim:h200"}})
        for (const std::vector<std::string>& shape : {std::vector<std::string>{}, {"--grid", "1"}, {"--block", "1"}}) {
            auto arguments = command;
            arguments.insert(arguments.end(), {"--kernel", "vector_add"});
            arguments.insert(arguments.end(), buffers.begin(), buffers.end());
            arguments.insert(arguments.end(), shape.begin(), shape.end());
            const auto ran = run(arguments);
            EXPECT_EQ(ran.code, 2);
            EXPECT_THAT(ran.err,
                        HasSubstr(shape.empty() || shape[0] == "--block" ? "--grid: missing" : "--block: missing"));
        }
}

TEST_F(Errors, ImpossibleLaunchesAndDumpsAreRefused) {
    write_kernel("k.ptx", " ret;\n");
    write("regular", "");
    const auto with = [](const std::vector<std::string>& options) {
        std::vector<std::string> all{"simulate", "k.ptx", "--kernel", "k"};
        all.insert(all.end(), options.begin(), options.end());
        for (const std::string option : {"--grid", "--block"})
            if (std::ranges::find(options, option) == options.end()) all.insert(all.end(), {option, "1"});
        return all;
    };
    expect(2, with({"--grid", "1,65536"}), {"--grid 1,65536: found 65536 blocks in y", "at most 65535", "GTX 280"});
    expect(2, with({"--grid", "1,1,2"}), {"found 2 blocks in z", "at most 1, the limit of GeForce GTX 280"});
    expect(2, with({"--grid", "2147483648"}), {"found 2147483648 blocks in x", "at most 2147483647"});
    expect(2, with({"--block", "1,1,65"}), {"--block 1,1,65: found 65 threads in z", "at most 64"});
    expect(2, with({"--grid", "0"}), {"--grid 0", "from 1 to"});
    expect(2, with({"--grid", "-1"}), {"--grid -1", "from 1 to"});
    expect(2, with({"--block", "1,2,3,4"}), {"--block 1,2,3,4", "X[,Y,Z]"});
    expect(2, with({"--block", "1,,2"}), {"--block 1,,2", "whole number"});
    expect(2, with({"--block", "513"}), {"--block 513", "512", "GTX 280"});
    expect(2, with({"--shared", "16385"}), {"--shared", "16385 bytes", "16384"});
    expect(2, with({"--dump", "0:out"}), {"--dump 0:out", "0 buffers"});
    write_kernel("k.ptx", " ret;\n", ".param .u64 to");
    expect(2, with({"--arg", "buf:8", "--dump", "0"}), {"--dump 0", "N:FILE"});
    expect(2, with({"--arg", "buf:8", "--dump", "0:"}), {"--dump 0:", "N:FILE"});
    expect(2, with({"--arg", "buf:8", "--dump", "0:regular/out"}), {"regular/out: cannot be written"});
}

TEST_F(Errors, LaterGpusTakeLargerLaunches) {
    write_kernel("k.ptx", " ret;\n");
    const auto refusal = [&](const std::string& grid, const std::string& block) {
        return run({"simulate", "k.ptx", "--kernel", "k", "--device", "sim:gtx680", "--grid", grid, "--block", block})
            .err;
    };
    EXPECT_THAT(refusal("1,1,65536", "1"), HasSubstr("found 65536 blocks in z; expected at most 65535, the limit of"));
    EXPECT_THAT(refusal("1", "1,1,1024"), HasSubstr("found 1024 threads in z; expected at most 64, the limit of"));
    EXPECT_THAT(refusal("1", "1,1025"), HasSubstr("found 1025 threads; expected at most 1024, the limit of"));
    EXPECT_THAT(refusal("1,2,3", "8,16,8"), Not(HasSubstr("gputomo: ")));
}

TEST_F(Errors, AnEndlessKernelEndsAtTheTimeLimit) {
    write_kernel("k.ptx", "AGAIN:\n bra AGAIN;\n");
    expect(4, {"simulate", "k.ptx", "--kernel", "k", "--grid", "1", "--block", "1", "--time-limit", "100"},
           {"launch of k", "100 ms", "line 6"});
}

TEST_F(Errors, ADeadlockIsReportedWithWarpAndInstruction) {
    write_kernel("k.ptx",
                 " .reg .u32 %t; .reg .pred %p;\n mov.u32 %t, %tid.x;\n setp.lt.u32 %p, %t, 32;\n @%p bra DONE;\n"
                 " bar.sync 0, 64;\nDONE:\n ret;\n");
    expect(1, {"simulate", "k.ptx", "--kernel", "k", "--grid", "1", "--block", "64"},
           {"launch of k", "deadlock", "warp 1 waits at line 9: bar.sync 0, 64"});
}

TEST_F(Errors, AnIllegalAccessIsReportedWithItsThread) {
    write_kernel(
        "k.ptx",
        " .reg .u64 %a; .reg .u32 %v;\n mov.u64 %a, 16;\n ld.global.u32 %v, [%a];\n st.global.u32 [%a], %v;\n ret;\n");
    expect(1, {"simulate", "k.ptx", "--kernel", "k", "--grid", "1", "--block", "1"},
           {"launch of k", "thread 0", "line 7"});
}

}  // namespace
}  // namespace gputomo::cli
