// What the documents promise: commands that run, links that lead somewhere, paths that exist.
#include "experiments/experiment.hpp"
#include "machine/machine.hpp"
#include "machine/paths.hpp"
#include "program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

namespace gputomo::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;

class Documents : public testing::ProgramTest {
protected:
    [[nodiscard]] static std::string text_of(const fs::path& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    [[nodiscard]] static std::vector<fs::path> documents() {
        std::vector<fs::path> all{source("README.md"), source("CHANGELOG.md"), source("recordings/README.md")};
        for (const auto& entry : fs::recursive_directory_iterator(source("docs")))
            if (entry.path().extension() == ".md") all.push_back(entry.path());
        return all;
    }
    /// The lines of a document's code blocks that call gputomo.
    [[nodiscard]] static std::vector<std::string> commands_of(const fs::path& file) {
        std::vector<std::string> commands;
        std::istringstream lines(text_of(file));
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("    build/gputomo ")) commands.push_back(line.substr(4));
        return commands;
    }
    /// Where the program, the sources and a scan are as they are after `make scan`.
    void prepare() const {
        fs::create_directory(path("build"));
        fs::create_symlink(GPUTOMO_PROGRAM, path("build/gputomo"));
        for (const char* folder : {"machines", "recordings", "tests"})
            fs::create_directory_symlink(source(folder), path(folder));
        fs::create_directory(path("scan"));
        fs::copy_file(source("machines/gtx280.json"), path("scan/machine.json"));
    }
};

TEST_F(Documents, TheTourCanBeFollowed) {
    prepare();
    const auto commands = commands_of(source("docs/tour.md"));
    EXPECT_GT(commands.size(), 7U);
    for (const auto& command : commands) {
        const int status = std::system(fmt::format("cd '{}' && {} >out 2>err", path(""), command).c_str());
        EXPECT_THAT(WEXITSTATUS(status), AnyOf(0, 1)) << command << "\n" << read("err");
        EXPECT_TRUE(read("err").find("gputomo:") == std::string::npos) << command << "\n" << read("err");
    }
    for (const char* written :
         {"compared.html", "h200.html", "pages/wong2010.html", "pages/index.html", "scan/history.sqlite"})
        EXPECT_TRUE(exists(written)) << written;
}

/// Alternatives stand as a|b, what may be left out in brackets.
TEST_F(Documents, ListedCommandsHaveTheirOptions) {
    const auto commands = commands_of(source("docs/commands.md"));
    EXPECT_GT(commands.size(), 10U);
    for (const auto& command : commands) {
        std::istringstream words(command);
        std::string program, name;
        words >> program >> name;
        const auto subcommand = name == "list" ? std::vector<std::string>{"list", "devices", "--help"}
                                               : std::vector<std::string>{name, "--help"};
        const auto help = run(subcommand);
        EXPECT_EQ(help.code, 0) << command;
        static const std::regex kOption("--[a-z0-9-]+");
        for (auto at = std::sregex_iterator(command.begin(), command.end(), kOption); at != std::sregex_iterator();
             ++at)
            EXPECT_THAT(help.out, ::testing::HasSubstr(at->str())) << command;
    }
}

TEST_F(Documents, EveryCommandIsListed) {
    const auto listed = text_of(source("docs/commands.md"));
    const auto help = run({"--help"}).out;
    std::istringstream lines(help.substr(help.find("Subcommands:")));
    std::string line;
    for (std::getline(lines, line); std::getline(lines, line) && line.starts_with("  ");)
        EXPECT_THAT(listed, ::testing::HasSubstr("build/gputomo " + line.substr(2, line.find(' ', 2) - 2)));
}

TEST_F(Documents, LinksLeadToFiles) {
    static const std::regex kLink(R"(\]\(([^)#]+)(#[^)]*)?\))");
    std::set<std::string> linked;
    for (const auto& document : documents()) {
        const auto text = text_of(document);
        for (auto at = std::sregex_iterator(text.begin(), text.end(), kLink); at != std::sregex_iterator(); ++at) {
            const auto target = (*at)[1].str();
            if (target.starts_with("http")) continue;
            EXPECT_TRUE(fs::exists(document.parent_path() / target)) << document << " links to " << target;
            linked.insert(fs::weakly_canonical(document.parent_path() / target));
        }
    }
    for (const auto& document : documents()) {
        if (document == source("README.md")) continue;
        EXPECT_TRUE(linked.contains(fs::weakly_canonical(document))) << "nothing links to " << document;
    }
}

TEST_F(Documents, FilesThatRecipesNameExist) {
    const auto recipes = text_of(source("docs/adding.md"));
    static const std::regex kFile(R"(`((?:src|tests|docs|machines|papers)/[A-Za-z0-9_./]+)`)");
    int named = 0;
    for (auto at = std::sregex_iterator(recipes.begin(), recipes.end(), kFile); at != std::sregex_iterator(); ++at) {
        const auto file = (*at)[1].str();
        if (file.find("NAME") != std::string::npos || file.find("PAPER") != std::string::npos) continue;
        ++named;
        EXPECT_TRUE(fs::exists(source(file))) << "docs/adding.md names " << file;
    }
    EXPECT_GT(named, 5);
}

/// The description knows every path that an experiment says it provides.
TEST_F(Documents, PathsThatExperimentsProvideAreLeavesOfTheDescription) {
    for (const auto& experiment : experiments::catalogue())
        for (const auto& pattern : experiment.provides) {
            auto path = std::string(pattern);
            if (const auto star = path.find('*'); star != std::string::npos) path.replace(star, 1, "some");
            machine::Machine machine;
            EXPECT_NO_THROW(machine::set_leaf(machine, path, {machine::Knowledge::absent, {}, {}, {}}))
                << experiment.id << " provides " << pattern;
        }
    machine::Machine machine;
    EXPECT_THROW(machine::set_leaf(machine, "caches.some.no_such_leaf", {machine::Knowledge::absent, {}, {}, {}}),
                 std::logic_error)
        << "so that the test can fail";
}

}  // namespace
}  // namespace gputomo::cli
