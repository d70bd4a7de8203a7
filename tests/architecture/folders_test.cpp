// The folders of src/ form layers: no two folders of one room include each other. The include lines are the evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace gputomo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAreArray;
using Pair = std::pair<std::string, std::string>;

/// Pairs of folders that are allowed to include each other. A pair that no longer does must leave the list.
const std::set<Pair> kAllowed;

std::string room_of(const std::string& folder) { return folder.substr(0, folder.find('/')); }

/// The folder of the file that an include line names, or nothing for any other line.
std::string included_folder(const std::string& line) {
    const std::string start = "#include \"";
    if (!line.starts_with(start)) return {};
    return fs::path(line.substr(start.size(), line.rfind('"') - start.size())).parent_path().generic_string();
}

/// For each folder of `source`, the other folders of its room that its files include.
std::map<std::string, std::set<std::string>> includes_below(const fs::path& source) {
    std::map<std::string, std::set<std::string>> includes;
    for (const auto& entry : fs::recursive_directory_iterator(source)) {
        const auto extension = entry.path().extension();
        if (extension != ".cpp" && extension != ".hpp") continue;
        const auto folder = fs::relative(entry.path().parent_path(), source).generic_string();
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            const auto other = included_folder(line);
            if (other != folder && room_of(other) == room_of(folder)) includes[folder].insert(other);
        }
    }
    return includes;
}

std::set<Pair> pairs_that_include_each_other(const fs::path& source) {
    std::set<Pair> pairs;
    const auto includes = includes_below(source);
    for (const auto& [folder, others] : includes)
        for (const auto& other : others) {
            const auto back = includes.find(other);
            if (folder < other && back != includes.end() && back->second.contains(folder)) pairs.emplace(folder, other);
        }
    return pairs;
}

/// Ways to write, rename or empty a file. Only the room `files` may use them, so that every output reaches the disk
/// whole.
constexpr const char* kWays[] = {"std::ofstream", "std::fstream", "fopen(", "::rename(", "O_WRONLY", "O_TRUNC"};

TEST(Folders, OnlyOneRoomWritesFiles) {
    std::set<std::string> rooms;
    for (const auto& entry : fs::recursive_directory_iterator(GPUTOMO_SOURCE_DIR "/src")) {
        if (!entry.is_regular_file()) continue;
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        for (const char* way : kWays)
            if (text.find(way) != std::string::npos)
                rooms.insert(room_of(fs::relative(entry.path(), GPUTOMO_SOURCE_DIR "/src").generic_string()));
    }
    EXPECT_THAT(rooms, ::testing::ElementsAre("files"));
}

/// Ways to print. Only the place that escapes control characters may use them, and the bar of the progress.
constexpr const char* kPrints[] = {"fmt::print(", "std::cout", "std::cerr", "printf(", "puts(", "fwrite("};

TEST(Folders, OnlyOnePlacePrints) {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(GPUTOMO_SOURCE_DIR "/src")) {
        if (!entry.is_regular_file()) continue;
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        for (const char* way : kPrints)
            for (auto at = text.find(way); at != std::string::npos; at = text.find(way, at + 1))
                if (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0)
                    files.insert(fs::relative(entry.path(), GPUTOMO_SOURCE_DIR "/src").generic_string());
    }
    EXPECT_THAT(files, ::testing::ElementsAre("cli/terminal/messages.cpp", "cli/terminal/progress.cpp"));
}

TEST(Folders, OfOneRoomDoNotIncludeEachOther) {
    const auto found = pairs_that_include_each_other(GPUTOMO_SOURCE_DIR "/src");
    EXPECT_THAT(found, ElementsAreArray(kAllowed))
        << "A new pair: move what both need into a folder that includes neither. A pair that is gone: remove it from "
           "kAllowed.";
}

/// A file of a folder of a source tree of its own.
void write(const fs::path& file, const std::string& line) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "// A comment.\n" << line << "\n";
}

TEST(Folders, ThatIncludeEachOtherAreFound) {
    const fs::path source = fs::path(::testing::TempDir()) / "folders_test";
    fs::remove_all(source);
    write(source / "room/a/one.cpp", "#include \"room/b/two.hpp\"");
    write(source / "room/c/three.hpp", "#include \"room/b/two.hpp\"");
    write(source / "other/b/two.hpp", "#include \"room/a/one.hpp\"");
    EXPECT_TRUE(pairs_that_include_each_other(source).empty());
    write(source / "room/b/two.hpp", "#include \"room/a/one.hpp\"");
    EXPECT_THAT(pairs_that_include_each_other(source), ElementsAreArray(std::set<Pair>{{"room/a", "room/b"}}));
    fs::remove_all(source);
}

}  // namespace
}  // namespace gputomo
