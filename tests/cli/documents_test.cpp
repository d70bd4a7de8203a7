// Tests of what the documents promise: commands run, links have targets, paths exist.
#include "cli/terminal/exits.hpp"
#include "experiments/experiment.hpp"
#include "machine/machine.hpp"
#include "machine/paths.hpp"
#include "program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

namespace gputomo::cli {
namespace {

namespace fs = std::filesystem;

/// A command line in a code block of a document.
struct Command {
    fs::path document;
    std::string text;   ///< "build/gputomo diff a.json b.json", without a comment behind it
    int exit_code = 0;  ///< what a comment "# exits with 1" says
};

/// Commands that take minutes or a GPU, unless they have this option. They are checked against --help. With
/// `shortened`, they are also run on simulated GPUs.
struct Long {
    std::string_view name;
    std::string_view unless;
    std::string_view shortened;
};
constexpr Long kLong[] = {{"scan", "--only", " --only clock --quiet"},
                          {"validate", "--help", ""},
                          {"surface", "--alpha", ""},
                          {"reproduce", "--only", ""}};

/// Whether the text shows the form of a command rather than a command. A form has alternatives as a|b, optional parts
/// in brackets, or words in capitals that the user replaces ("--out FILE").
bool is_form(const std::string& text) {
    static const std::regex kForm(R"([|\[]|\.\.\.|(^|[ :])[A-Z]+([ .,:]|$))");
    return std::regex_search(text, kForm);
}

/// The command as the test runs it; nothing where it is only checked against --help.
std::optional<std::string> runnable(const std::string& text) {
    if (is_form(text) || text.find("cuda:") != std::string::npos) return std::nullopt;
    for (const auto& row : kLong)
        if (text.starts_with(fmt::format("build/gputomo {}", row.name)) && text.find(row.unless) == std::string::npos)
            return row.shortened.empty() ? std::nullopt : std::optional(text + std::string(row.shortened));
    return text;
}

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
        std::ranges::sort(all);
        return all;
    }
    /// README.md and docs/, without the dated notebook: what it ran may no longer exist.
    [[nodiscard]] static std::vector<fs::path> instructions() {
        auto all = documents();
        std::erase_if(all, [](const fs::path& file) {
            const bool in_docs = file.string().starts_with(source("docs/"));
            return (!in_docs && file != source("README.md")) || file.string().starts_with(source("docs/notes/"));
        });
        return all;
    }
    /// The lines of a document's code blocks, indented or fenced, that call gputomo.
    [[nodiscard]] static std::vector<Command> commands_of(const fs::path& file) {
        static const std::regex kComment(R"(\s+#\s.*$)"), kExit("# exits with ([0-9]+)");
        std::vector<Command> commands;
        std::istringstream lines(text_of(file));
        bool fenced = false;
        for (std::string line; std::getline(lines, line);) {
            const auto start = line.find_first_not_of(" $");
            if (start == std::string::npos) continue;
            if (line.substr(start).starts_with("```")) fenced = !fenced;
            if (!line.substr(start).starts_with("build/gputomo ") || (!fenced && start < 4)) continue;
            std::smatch exit;
            const int code = std::regex_search(line, exit, kExit) ? std::stoi(exit[1].str()) : 0;
            commands.push_back({file, std::regex_replace(line.substr(start), kComment, ""), code});
        }
        return commands;
    }
    [[nodiscard]] static std::vector<Command> all_commands() {
        std::vector<Command> all;
        for (const auto& file : instructions()) {
            const auto commands = commands_of(file);
            all.insert(all.end(), commands.begin(), commands.end());
        }
        return all;
    }
    /// Makes a folder with the program, the sources' data and the scan of a GTX 280, as after `make scan` without a
    /// GPU. The scan is of one experiment, with the whole description beside it.
    void prepare(const std::string& folder) const {
        const auto in = [&](const std::string& name) { return path(folder + "/" + name); };
        fs::create_directories(in("build"));
        fs::create_symlink(GPUTOMO_PROGRAM, in("build/gputomo"));
        for (const char* data : {"machines", "recordings", "tests", "kernels"})
            fs::create_directory_symlink(source(data), in(data));
        EXPECT_THAT(text_of(source("Makefile")), ::testing::HasSubstr("build/gputomo scan --device auto --out scan\n"));
        expect_exit_code({"Makefile", "build/gputomo scan --device sim:gtx280 --out scan --only clock --quiet"},
                         folder);
        fs::copy_file(source("machines/gtx280.json"), in("scan/machine.json"), fs::copy_options::overwrite_existing);
    }
    /// Runs a command by the shell, as a reader does who pastes it.
    void expect_exit_code(const Command& command, const std::string& folder) const {
        const int status = std::system(fmt::format("cd '{}' && {} >out 2>err", path(folder), command.text).c_str());
        const auto where = fmt::format("{}: {}\n{}", command.document.string(), command.text, read(folder + "/err"));
        ASSERT_TRUE(WIFEXITED(status)) << where;
        EXPECT_EQ(WEXITSTATUS(status), command.exit_code) << where;
    }
    /// Every option of the command must stand in its --help.
    void expect_known_options(const Command& command) const {
        std::istringstream words(command.text);
        std::string program, name;
        words >> program >> name;
        auto arguments = std::vector<std::string>{name, "--help"};
        if (name == "list" || name == "manual")
            arguments.insert(arguments.begin() + 1, name == "list" ? "devices" : "man");
        const auto help = run(arguments);
        EXPECT_EQ(help.code, 0) << command.text;
        static const std::regex kOption("--[a-z0-9-]+");
        for (auto at = std::sregex_iterator(command.text.begin(), command.text.end(), kOption);
             at != std::sregex_iterator(); ++at)
            EXPECT_THAT(help.out, ::testing::HasSubstr(at->str())) << command.document << ": " << command.text;
    }
};

TEST_F(Documents, CommandsRunAndExitAsTheDocumentSays) {
    std::size_t ran = 0, checked = 0;
    for (const auto& command : all_commands()) {
        expect_known_options(command);
        auto run_as = command;
        const auto text = runnable(command.text);
        if (!text) {
            ++checked;
            continue;
        }
        run_as.text = *text;
        const auto folder = command.document.stem().string();
        if (!exists(folder)) prepare(folder);
        expect_exit_code(run_as, folder);
        ++ran;
    }
    // Counted without what finds them above: each line of a document that begins with the program.
    std::size_t written = 0;
    static const std::regex kLine(R"((^|\n) *\$? *build/gputomo )");
    for (const auto& file : instructions()) {
        const auto text = text_of(file);
        written += static_cast<std::size_t>(
            std::distance(std::sregex_iterator(text.begin(), text.end(), kLine), std::sregex_iterator()));
    }
    EXPECT_EQ(ran + checked, written) << "a command stands outside a code block, or is not found";
    EXPECT_GE(ran, 10U) << "the tour has as many";
    EXPECT_GE(checked, 15U) << "one form for each command";
    for (const char* made : {"tour/scan-gtx980/report.html", "tour/compared.html", "tour/h200.html",
                             "tour/pages/wong2010.html", "tour/pages/index.html", "tour/scan/history.sqlite"})
        EXPECT_TRUE(exists(made)) << made;
}

TEST_F(Documents, AScanIntoTheFolderOfAnotherGpuIsNoticed) {
    prepare("here");
    const auto text = runnable("build/gputomo scan --device sim:gtx980 --out scan").value();
    EXPECT_NONFATAL_FAILURE(expect_exit_code({"tour.md", text}, "here"), "Expected equality");
}

TEST_F(Documents, CommandsInTheTextHaveTheirOptions) {
    static const std::regex kInline("`(build/gputomo [a-z][^`]*)`");
    int found = 0;
    for (const auto& file : instructions()) {
        const auto text = text_of(file);
        for (auto at = std::sregex_iterator(text.begin(), text.end(), kInline); at != std::sregex_iterator(); ++at) {
            ++found;
            expect_known_options({file, (*at)[1].str()});
        }
    }
    EXPECT_GT(found, 5);
}

TEST_F(Documents, AFailingCommandIsNoticed) {
    prepare("here");
    const Command fails{"README.md", "build/gputomo diff scan/machine.json machines/h200.json", 1};
    expect_exit_code(fails, "here");
    EXPECT_NONFATAL_FAILURE(expect_exit_code({"README.md", fails.text, 0}, "here"), "Expected equality");
}

TEST_F(Documents, ThePageOfCommandsHasEveryCommandAndExitCode) {
    const auto text = text_of(source("docs/commands.md"));
    const auto help = run({"--help"}).out;
    std::istringstream lines(help.substr(help.find("Subcommands:")));
    std::string line;
    for (std::getline(lines, line); std::getline(lines, line) && line.starts_with("  ");)
        EXPECT_THAT(text, ::testing::HasSubstr("build/gputomo " + line.substr(2, line.find(' ', 2) - 2)));
    const auto codes = text.find("Exit codes");
    ASSERT_NE(codes, std::string::npos);
    const auto paragraph = text.substr(codes, text.find("\n\n", codes) - codes);
    for (const auto& exit : kExitMeanings)
        EXPECT_TRUE(std::regex_search(paragraph, std::regex(fmt::format("\\b{}\\b", static_cast<int>(exit.code)))))
            << exit.code << " in " << paragraph;
}

TEST_F(Documents, LinksLeadToFiles) {
    static const std::regex kLink(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
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
