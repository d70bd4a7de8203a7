// Tests of the place that prints for people: nothing that a terminal would act on, and messages between whole lines.
#include "cli/terminal/messages.hpp"
#include "program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace gputomo::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Printable, EscapesWhatATerminalActsOnAndKeepsText) {
    EXPECT_EQ(out::printable("plain \xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80\n\tline"),
              "plain \xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80\n\tline");
    EXPECT_EQ(out::printable("\x1b[31mred\x1b]0;title\x07"), "\\x1b[31mred\\x1b]0;title\\x07");
    EXPECT_EQ(out::printable("over\rwritten\b\x7f"), "over\\x0dwritten\\x08\\x7f");
    EXPECT_EQ(out::printable("\xc2\x9b"
                             "31m"),
              "\\x9b31m")
        << "the one character that means ESC [";
    EXPECT_EQ(out::printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
    EXPECT_EQ(out::printable("caf\xe9"), "caf\\xe9");
    EXPECT_EQ(out::printable("\x9b"
                             "31m"),
              "\\x9b31m");
    EXPECT_EQ(out::printable("\xc0\xaf"), "\\xc0\\xaf") << "longer than needed";
    EXPECT_EQ(out::printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair of UTF-16";
    EXPECT_EQ(out::printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
    EXPECT_EQ(out::printable("\xe2\x82"), "\\xe2\\x82") << "cut off";
}

TEST(Printable, ACellOfATableIsOneLine) { EXPECT_EQ(out::one_line("a\nb\tc\x1b"), "a\\nb\\tc\\x1b"); }

class Messages : public testing::ProgramTest {};

const std::string kRed = "\x1b[31mred\x07\r";

TEST_F(Messages, NamesFromTheCommandLineAreEscaped) {
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{kRed},
                                               {"scan", kRed},
                                               {"scan", "--seed", kRed},
                                               {"run", kRed},
                                               {"diff", kRed, kRed},
                                               {"scan", "--device", kRed},
                                               {"simulate", kRed, "--kernel", "k"}}) {
        const auto ran = run(arguments);
        EXPECT_EQ(ran.code, 2);
        EXPECT_THAT(ran.err, AllOf(StartsWith("gputomo: "), Not(HasSubstr("\x1b")), Not(HasSubstr("\r"))));
        EXPECT_THAT(ran.err, HasSubstr("\\x1b[31mred\\x07\\x0d")) << ::testing::PrintToString(arguments);
    }
}

TEST_F(Messages, TextFromFilesIsEscapedInMessagesAndResults) {
    write("k.ptx", ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k() {\n add.q32 %r1, " + kRed +
                       ";\n ret;\n}\n");
    const auto refused = run({"simulate", "k.ptx", "--kernel", "k", "--grid", "1", "--block", "1"});
    EXPECT_THAT(refused.err, AllOf(HasSubstr("ptx:5"), HasSubstr("[31mred"), Not(HasSubstr("\x1b"))));
    auto machine = nlohmann::json::parse(read(source("machines/gtx280.json")));
    machine["identity"]["name"]["value"] = "GTX\x1b[2J\n280";
    write("m.json", machine.dump());
    const auto diff = run({"diff", "m.json", "sim:gtx280"});
    EXPECT_EQ(diff.code, 1) << diff.err;
    EXPECT_THAT(diff.out, AllOf(HasSubstr("GTX\\x1b[2J"), Not(HasSubstr("\x1b"))));
    ASSERT_EQ(run({"history", "--db", "h.sqlite", "--add", "m.json", "--specimen", "a"}).code, 0);
    const auto listed = run({"history", "--db", "h.sqlite"}).out;
    EXPECT_THAT(listed, HasSubstr("GTX\\x1b[2J\\n280  a"));
    EXPECT_EQ(std::count(listed.begin(), listed.end(), '\n'), 1) << "one row for one scan";
}

TEST_F(Messages, JsonStaysJson) {
    auto machine = nlohmann::json::parse(read(source("machines/gtx280.json")));
    const std::string name =
        "GTX \x1b[2J \x7f \xc2\x9b"
        "31m \xc2\xb5";
    machine["identity"]["name"]["value"] = name;
    write("m.json", machine.dump());
    ASSERT_EQ(run({"history", "--db", "h.sqlite", "--add", "m.json", "--specimen", "a"}).code, 0);
    const auto ran = run({"history", "--db", "h.sqlite", "--json"});
    EXPECT_THAT(ran.out, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x7f")), Not(HasSubstr("\xc2\x9b"))));
    EXPECT_EQ(nlohmann::json::parse(ran.out).at("scans").at(0).at("gpu"), name);
}

/// Runs in a child process, whose standard output and standard error go to one file as of `scan >log 2>&1`.
void print_rows_and_a_warning(const std::string& file) {
    const int log = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) _exit(1);
    for (int i = 0; i < 1000; ++i) {
        out::print("row {:03} of a table\n", i);
        if (i == 500) out::warn("between {} rows", "two");
    }
    std::fflush(stdout);
    _exit(0);
}

/// Standard output is buffered where it is no terminal, and standard error is not.
TEST_F(Messages, AWarningStandsBetweenWholeRowsWhereBothGoToOneFile) {
    const pid_t child = fork();
    if (child == 0) print_rows_and_a_warning(path("log"));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    std::istringstream lines(read("log"));
    std::string line;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(std::getline(lines, line));
        EXPECT_EQ(line, fmt::format("row {:03} of a table", i));
        if (i != 500) continue;
        ASSERT_TRUE(std::getline(lines, line));
        EXPECT_EQ(line, "warning: between two rows");
    }
}

/// What the prediction of a sum of vectors shows, with `more` options, on a terminal with this environment.
std::string on_terminal(const std::vector<std::string>& more, const std::vector<std::string>& environment) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return "no terminal";
    std::vector<std::string> words{
        GPUTOMO_PROGRAM, "predict",    GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/vector_add.cubin",
        "--kernel",      "vector_add", "--machine",
        "h200",          "--grid",     "4",
        "--block",       "256"};
    for (int i = 0; i < 3; ++i) words.insert(words.end(), {"--arg", "buf:4096"});
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments, variables;
    for (auto& word : words) arguments.push_back(word.data());
    auto given = environment;
    for (auto& variable : given) variables.push_back(variable.data());
    arguments.push_back(nullptr);
    variables.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const int side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
        dup2(side, STDOUT_FILENO);
        dup2(side, STDERR_FILENO);
        execve(arguments.front(), arguments.data(), variables.data());
        _exit(127);
    }
    std::string shown;
    char buffer[4096];
    int status = 0;
    bool ended = false;
    while (true) {
        pollfd ready{.fd = terminal, .events = POLLIN, .revents = 0};
        if (poll(&ready, 1, ended ? 0 : 50) > 0 && (ready.revents & POLLIN) != 0) {
            const auto bytes = read(terminal, buffer, sizeof(buffer));
            if (bytes > 0) shown.append(buffer, static_cast<std::size_t>(bytes));
            continue;
        }
        if (ended) break;
        ended = waitpid(child, &status, WNOHANG) == child;
    }
    close(terminal);
    return shown;
}

/// Systems without /dev/pts, such as fresh roots, have no pseudo terminals.
bool has_terminals() {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0) return false;
    const bool usable = grantpt(terminal) == 0 && unlockpt(terminal) == 0;
    close(terminal);
    return usable;
}

TEST(Terminal, HeadingsAreBoldUnlessColoursAreNotWanted) {
    if (!has_terminals()) GTEST_SKIP() << "this system has no pseudo terminals";
    const auto coloured = on_terminal({}, {"TERM=xterm"});
    EXPECT_THAT(coloured, AllOf(HasSubstr("\x1b[1mvector_add on NVIDIA H200\x1b[0m"), HasSubstr("\x1b[1mMemory\x1b[0m"),
                                HasSubstr("\x1b[1;33mWarnings\x1b[0m")));
    for (const std::string variable : {"NO_COLOR=1", "TERM=dumb"})
        EXPECT_THAT(on_terminal({}, {variable}),
                    AllOf(HasSubstr("vector_add on NVIDIA H200"), Not(HasSubstr("\x1b[1m"))))
            << variable;
    EXPECT_THAT(on_terminal({}, {"TERM=xterm", "NO_COLOR="}), HasSubstr("\x1b[1m")) << "an empty NO_COLOR is none";
}

TEST(Terminal, VerboseSaysWhatEachStepTook) {
    if (!has_terminals()) GTEST_SKIP() << "this system has no pseudo terminals";
    EXPECT_THAT(
        on_terminal({"--verbose"}, {"TERM=dumb"}),
        AllOf(::testing::ContainsRegex("answering vector_add: [0-9.]+ s"), HasSubstr("4 of 4 blocks executed")));
    EXPECT_THAT(on_terminal({"--quiet"}, {"TERM=dumb"}), Not(HasSubstr("answering")));
    EXPECT_THAT(on_terminal({"--quiet", "--verbose"}, {"TERM=dumb"}), HasSubstr("--quiet excludes --verbose"));
}

}  // namespace
}  // namespace gputomo::cli
