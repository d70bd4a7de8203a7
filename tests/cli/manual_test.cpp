// Tests of the manual page and the shell completion, which are made from the options that commands register.
#include "cli/manual/outline.hpp"
#include "program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <array>
#include <cstdio>
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
        FILE* bash = popen(fmt::format("bash '{}' 2>&1", path("ask.bash")).c_str(), "r");
        if (bash == nullptr) return {"bash does not start"};
        std::string text;
        std::array<char, 4096> part{};
        while (std::fgets(part.data(), part.size(), bash) != nullptr) text += part.data();
        if (pclose(bash) != 0) return {text};
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
    EXPECT_THAT(offered("gputomo export --to "), ElementsAre("accel-sim", "flat", "csv"));
    write("some_machine.json", "{}");
    EXPECT_THAT(offered("gputomo diff " + path("some_ma")), ElementsAre(path("some_machine.json")));
}

}  // namespace
}  // namespace gputomo::cli
