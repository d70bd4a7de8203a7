// Tests of the manual page and the shell completion, which are made from the options that commands register.
#include "cli/manual/outline.hpp"
#include "program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace gputomo::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Manual : public testing::ProgramTest {
protected:
    /// The completions that bash offers at the end of a line. Runs the program's own script.
    [[nodiscard]] std::vector<std::string> offered(const std::string& line, const std::string& breaks = " ") const {
        write("completion.bash", run({"manual", "bash"}).out);
        write("ask.bash", fmt::format("source '{}'\nCOMP_LINE='{}' COMP_POINT={} "
                                      "COMP_WORDBREAKS='{}'\n_gputomo\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
                                      path("completion.bash"), line, line.size(), breaks));
        return lines_of(fmt::format("bash '{}' 2>&1", path("ask.bash")));
    }
    /// The completions that fish offers, each with a tab and its help.
    [[nodiscard]] std::vector<std::string> offered_by_fish(const std::string& line) const {
        write("completion.fish", run({"manual", "fish"}).out);
        write("ask.fish", fmt::format("source '{}'\ncomplete -C '{}'\n", path("completion.fish"), line));
        return lines_of(fmt::format("HOME='{0}' XDG_CONFIG_HOME='{0}' XDG_DATA_HOME='{0}' fish --no-config '{1}' 2>&1",
                                    path("home"), path("ask.fish")));
    }
    /// What the script hands zsh's own `_describe` and `_arguments`: the words, or the specifications of options.
    [[nodiscard]] std::vector<std::string> handed_to_zsh(const std::string& words, int current) const {
        write("completion.zsh", run({"manual", "zsh"}).out);
        write("ask.zsh",
              fmt::format("_describe() {{ print -rl -- $choices }}\n_arguments() {{ print -rl -- $words[1] $CURRENT "
                          "\"$@\" }}\nsource '{}'\nwords=({}) CURRENT={}\n_gputomo\n",
                          path("completion.zsh"), words, current));
        return lines_of(fmt::format("zsh -f '{}' 2>&1", path("ask.zsh")));
    }
    [[nodiscard]] static bool has(const std::string& shell) {
        return std::system(fmt::format("command -v {} >/dev/null", shell).c_str()) == 0;
    }
    /// The lines that a command of the shell prints, or all of its text as one where it fails.
    [[nodiscard]] static std::vector<std::string> lines_of(const std::string& command) {
        FILE* shell = popen(command.c_str(), "r");
        if (shell == nullptr) return {"no shell starts"};
        std::string text;
        std::array<char, 4096> part{};
        while (std::fgets(part.data(), part.size(), shell) != nullptr) text += part.data();
        if (pclose(shell) != 0) return {text};
        std::vector<std::string> words;
        std::istringstream lines(text);
        for (std::string word; std::getline(lines, word);) words.push_back(word);
        return words;
    }
};

/// A command line other than gputomo's.
std::vector<OutlineCommand> made_up() {
    CLI::App app("made up", "app");
    auto* cook = app.add_subcommand("cook", "Make .a dish");
    static std::vector<std::string> what;
    static std::string heat = "low";
    static bool lid = false;
    cook->add_option("dish", what, "what to cook")->required()->expected(1, 3);
    cook->add_option("--heat", heat, "how hot")->capture_default_str();
    cook->add_flag("--lid", lid, "-closed\\");
    app.add_subcommand("wash", "Wash up")->add_subcommand("pots", "The pots");
    return outline(app);
}

TEST(Outline, HasEveryRegisteredCommandAndOption) {
    const auto commands = made_up();
    ASSERT_EQ(commands.size(), 2U);
    EXPECT_EQ(commands[1].name, "wash pots");
    const auto& options = commands[0].options;
    ASSERT_EQ(options.size(), 4U) << "with --help";
    EXPECT_TRUE(options[1].positional && options[1].required && options[1].several && options[1].takes_value);
    EXPECT_EQ(options[2].name, "--heat");
    EXPECT_EQ(options[2].fallback, "low");
    EXPECT_FALSE(options[3].takes_value) << "a flag";
}

TEST(Outline, EscapesTextForRoff) {
    const auto page = man_page(made_up());
    EXPECT_THAT(page, AllOf(HasSubstr("\\fB\\-\\-lid\\fR\n\\-closed\\e\n"),
                            HasSubstr("\\fBgputomo cook\\fR \\fIDISH\\fR ... [\\fIoptions\\fR]"),
                            HasSubstr("how hot (default: low)")));
}

TEST_F(Manual, HasEveryCommandOfTheHelp) {
    const auto page = run({"manual", "man"});
    EXPECT_EQ(page.code, 0);
    std::istringstream help(run({"--help"}).out.substr(run({"--help"}).out.find("Subcommands:")));
    std::string line;
    int commands = 0;
    for (std::getline(help, line); std::getline(help, line) && !line.empty(); ++commands)
        EXPECT_THAT(page.out, HasSubstr("\n.SS " + line.substr(2, line.find(' ', 2) - 2))) << line;
    EXPECT_GT(commands, 10);
    EXPECT_THAT(page.out, AllOf(HasSubstr("\\fB\\-\\-history\\fR \\fIHISTORY\\fR"), HasSubstr("\n.TP\n130\n")));
}

TEST_F(Manual, BashOffersCommandsOptionsAndWords) {
    EXPECT_THAT(offered("gputomo re"), ElementsAre("report", "reproduce"));
    EXPECT_THAT(offered("gputomo list "), ElementsAre("devices", "experiments", "models", "papers"));
    EXPECT_THAT(offered("gputomo scan --hi"), ElementsAre("--history"));
    EXPECT_THAT(offered("gputomo scan --device sim:gtx2"), ElementsAre("sim:gtx280"));
    EXPECT_THAT(offered("gputomo scan --device sim:gtx2", ": "), ElementsAre("gtx280"))
        << "bash has parted the word at the colon";
    EXPECT_THAT(offered("gputomo scan --only caches,dr"), ElementsAre("caches,dram_bandwidth"));
    EXPECT_THAT(offered("gputomo run scop"), ElementsAre("scopes"));
    EXPECT_THAT(offered("gputomo export --to "),
                ElementsAre("accel-sim", "gpgpu-sim", "llmcompass", "tilelang", "roofline", "flat", "csv"));
    write("some_machine.json", "{}");
    EXPECT_THAT(offered("gputomo diff " + path("some_ma")), ElementsAre(path("some_machine.json")));
}

TEST_F(Manual, FishOffersCommandsOptionsAndWords) {
    if (!has("fish")) GTEST_SKIP() << "fish is not installed";
    EXPECT_THAT(offered_by_fish("gputomo re"), ElementsAre(HasSubstr("report\t"), HasSubstr("reproduce\t")));
    EXPECT_THAT(offered_by_fish("gputomo list "), ::testing::SizeIs(4));
    EXPECT_THAT(offered_by_fish("gputomo scan --hi"), ElementsAre(HasSubstr("--history\thistory file")));
    EXPECT_THAT(offered_by_fish("gputomo scan --device sim:gtx2"), ElementsAre(HasSubstr("sim:gtx280")));
    EXPECT_THAT(offered_by_fish("gputomo scan --only caches,dram_b"), ElementsAre(HasSubstr("caches,dram_bandwidth")));
    EXPECT_THAT(offered_by_fish("gputomo list devices --j"), ElementsAre(HasSubstr("--json")));
    EXPECT_THAT(offered_by_fish("gputomo run scop"), ElementsAre("scopes"));
}

TEST_F(Manual, ZshIsHandedCommandsOptionsAndWords) {
    if (!has("zsh")) GTEST_SKIP() << "zsh is not installed";
    using ::testing::Contains;
    using ::testing::StartsWith;
    EXPECT_THAT(handed_to_zsh("gputomo re", 2), Contains(StartsWith("reproduce:")));
    const auto lists = handed_to_zsh("gputomo list ''", 3);
    EXPECT_THAT(lists, AllOf(::testing::SizeIs(4), Contains(StartsWith("papers:"))));
    const auto scan = handed_to_zsh("gputomo scan --device ''", 4);
    ASSERT_GT(scan.size(), 10U) << scan.front();
    EXPECT_EQ(scan[0], "scan") << "the command is the first word for _arguments";
    EXPECT_EQ(scan[1], "3");
    EXPECT_THAT(scan, Contains(AllOf(StartsWith("--device=["), HasSubstr("sim\\:gtx280"))));
    EXPECT_THAT(scan, Contains(AllOf(StartsWith("*--only=["), HasSubstr("{_sequence compadd - "))));
    EXPECT_THAT(scan, Contains(StartsWith("--quick[measure with fewer")));
    const auto devices = handed_to_zsh("gputomo list devices --j", 4);
    EXPECT_EQ(devices.front(), "devices");
    EXPECT_THAT(devices, Contains(StartsWith("--json[")));
}

}  // namespace
}  // namespace gputomo::cli
