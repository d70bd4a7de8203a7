#include "files/output_file.hpp"

#include "files/folder_lock.hpp"
#include "files/output_folder.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>

namespace gputomo::files {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

class FolderTest : public ::testing::Test {
protected:
    FolderTest() {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        folder = fs::path(::testing::TempDir()) /
                 (std::string("gputomo_") + test->test_suite_name() + "_" + test->name() + std::to_string(getpid()));
        fs::remove_all(folder);
        fs::create_directories(folder);
    }

public:
    ~FolderTest() override { fs::remove_all(folder); }

protected:
    static std::string content(const fs::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    [[nodiscard]] std::ptrdiff_t count() const { return std::distance(fs::directory_iterator(folder), {}); }
    fs::path folder;
};

class WriteWhole : public FolderTest {};

TEST_F(WriteWhole, ReplacesTheFileAndLeavesNoTemporaryFile) {
    write_whole(folder / "f", "a longer text");
    write_whole(folder / "f", "short");
    EXPECT_EQ(content(folder / "f"), "short");
    EXPECT_EQ(count(), 1);
}

TEST_F(WriteWhole, KeepsThePermissionsOfTheFileThatItReplaces) {
    constexpr auto kOwnerAlone = fs::perms::owner_read | fs::perms::owner_write;
    write_whole(folder / "f", "old");
    fs::permissions(folder / "f", kOwnerAlone);
    write_whole(folder / "f", "new");
    EXPECT_EQ(fs::status(folder / "f").permissions(), kOwnerAlone);
}

TEST_F(WriteWhole, KeepsTheOldContentWhenWritingFails) {
    write_whole(folder / "regular", "old");
    for (const auto& file : {folder / "regular" / "f", folder / "no_such_folder" / "f", folder})
        EXPECT_THAT([&] { write_whole(file, "x"); },
                    ThrowsMessage<InputError>(StartsWith(file.string() + ": cannot be written")))
            << file;
    EXPECT_EQ(content(folder / "regular"), "old");
    EXPECT_EQ(count(), 1);
}

TEST_F(WriteWhole, WritesToADeviceInsteadOfReplacingIt) {
    const auto null = folder / "null";
    fs::create_symlink("/dev/null", null);
    write_whole(null, "gone");
    check_writable_file(null);
    EXPECT_TRUE(fs::is_symlink(null));
    EXPECT_TRUE(fs::is_character_file(null));
    const auto full = folder / "full";
    fs::create_symlink("/dev/full", full);
    EXPECT_THAT([&] { write_whole(full, "x"); },
                ThrowsMessage<Error>(AllOf(StartsWith(full.string()), HasSubstr("No space left"))));
}

TEST_F(WriteWhole, FollowsSymbolicLinksAlsoToFilesThatDoNotExistYet) {
    fs::create_directories(folder / "elsewhere");
    fs::create_symlink("elsewhere/real", folder / "relative");
    fs::create_symlink(folder / "relative", folder / "absolute");
    write_whole(folder / "absolute", "first");
    EXPECT_EQ(content(folder / "elsewhere" / "real"), "first");
    write_whole(folder / "relative", "second");
    EXPECT_EQ(content(folder / "elsewhere" / "real"), "second");
    EXPECT_TRUE(fs::is_symlink(folder / "relative"));
    EXPECT_TRUE(fs::is_symlink(folder / "absolute"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "elsewhere"), {}), 1);
    fs::create_symlink("loop", folder / "loop");
    EXPECT_THAT([&] { write_whole(folder / "loop", "x"); }, ThrowsMessage<InputError>(HasSubstr("symbolic links")));
}

TEST_F(WriteWhole, RefusesAFileOfASet) {
    OutputFolder(folder).write({{"scan.json", "s"}, {"report.html", "old"}});
    fs::create_symlink("report.html", folder / "link");
    for (const char* const name : {"scan.json", "report.html", "manifest.json", "link"}) {
        const auto refused = ThrowsMessage<InputError>(AllOf(
            HasSubstr("belongs to the files that " + (folder / "manifest.json").string()), HasSubstr("expected")));
        EXPECT_THAT([&] { write_whole(folder / name, "new"); }, refused) << name;
        EXPECT_THAT([&] { check_writable_file(folder / name); }, refused) << name;
    }
    EXPECT_EQ(read_set(folder).contents.at("report.html"), "old");
    fs::rename(folder / "manifest.json", folder / "manifest.json.part");
    EXPECT_THROW(write_whole(folder / "report.html", "new"), InputError) << "a write that was cut off";
    write_whole(folder / "other.html", "not listed");
    EXPECT_EQ(content(folder / "other.html"), "not listed");
}

TEST_F(WriteWhole, RefusesAFileOfACapture) {
    fs::create_directories(folder / "c" / "modules");
    write_whole(folder / "c" / "modules" / "m.cubin", "code");
    write_whole(folder / "c" / "capture.json", "{\"schema\": \"another's\"}");
    write_whole(folder / "c" / "modules" / "m.cubin", "no capture");
    std::ofstream(folder / "c" / "capture.json") << "{\n  \"schema\": \"gputomo-capture-1\"}";
    for (const char* const name : {"capture.json", "modules/m.cubin"})
        EXPECT_THAT([&] { write_whole(folder / "c" / name, "new"); },
                    ThrowsMessage<InputError>(HasSubstr((folder / "c" / "capture.json").string())))
            << name;
    const auto before = fs::current_path();
    fs::current_path(folder / "c" / "modules");
    EXPECT_THROW(write_whole("m.cubin", "new"), InputError);
    fs::current_path(before);
    write_whole(folder / "c" / "page.html", "belongs to no set");
    EXPECT_EQ(content(folder / "c" / "modules" / "m.cubin"), "no capture");
}

TEST_F(WriteWhole, InASetUpdatesTheManifestThatListsTheFile) {
    OutputFolder(folder).write({{"scan.json", "s"}, {"report.html", "old"}});
    check_writable_in_set(folder / "report.html");
    write_in_set(folder / "report.html", "new");
    write_in_set(folder / "other.html", "not listed");
    const auto set = read_set(folder);
    EXPECT_THAT(set.problems, IsEmpty());
    EXPECT_EQ(set.contents.at("report.html"), "new");
    EXPECT_FALSE(set.manifest.contains("other.html"));
    EXPECT_FALSE(fs::exists(folder / kLockName));
}

class CheckWritable : public FolderTest {};

TEST_F(CheckWritable, CreatesTheFolderAndLeavesNothingInIt) {
    check_writable_folder(folder / "new" / "deep");
    EXPECT_TRUE(fs::is_empty(folder / "new" / "deep"));
    write_whole(folder / "scan.json", "old");
    check_writable_folder(folder);
    check_writable_file(folder / "scan.json");
    EXPECT_EQ(content(folder / "scan.json"), "old");
    EXPECT_EQ(count(), 2);
}

TEST_F(CheckWritable, NamesAFileThatIsNoFolder) {
    write_whole(folder / "regular", "");
    for (const auto& bad : {folder / "regular", folder / "regular" / "below"})
        EXPECT_THAT([&] { check_writable_folder(bad); },
                    ThrowsMessage<InputError>(StartsWith(bad.string() + ": cannot be created as a folder")))
            << bad;
    EXPECT_THAT([&] { check_writable_file(folder); }, ThrowsMessage<InputError>(HasSubstr("it is a folder")));
}

class SetAside : public FolderTest {};

TEST_F(SetAside, GivesEachFolderAFreeName) {
    for (const char* const expected : {"p-20261123T104449Z", "p-20261123T104449Z-2", "p-20261123T104449Z-3"}) {
        fs::create_directories(folder / "p" / expected);
        EXPECT_EQ(set_aside(folder / "p", "2026-11-23T10:44:49Z"), folder / expected);
        EXPECT_TRUE(fs::exists(folder / expected / expected));
    }
    fs::create_directories(folder / "p");
    EXPECT_EQ(set_aside(folder / "p", ""), folder / "p-earlier");
}

class RefuseInputs : public FolderTest {};

TEST_F(RefuseInputs, RecognisesTheSameFileUnderOtherNames) {
    write_whole(folder / "in", "precious");
    fs::create_symlink("in", folder / "link");
    fs::create_hard_link(folder / "in", folder / "hard");
    for (const auto& output : {folder / "in", folder / "link", folder / "hard", folder / "." / "in"})
        EXPECT_THAT(
            [&] {
                refuse_inputs("--out", output, {(folder / "none").string(), (folder / "in").string()});
            },
            ThrowsMessage<InputError>(AllOf(StartsWith("--out " + output.string()), HasSubstr("/in, which"))))
            << output;
}

TEST_F(RefuseInputs, AcceptsOtherFilesDevicesAndFilesThatDoNotExist) {
    write_whole(folder / "in", "same content");
    write_whole(folder / "out", "same content");
    EXPECT_NO_THROW(refuse_inputs("--out", folder / "out", {(folder / "in").string()}));
    EXPECT_NO_THROW(refuse_inputs("--out", folder / "new", {(folder / "in").string(), (folder / "new").string()}));
    EXPECT_NO_THROW(refuse_inputs("--out", "/dev/null", {"/dev/null"}));
}

class ReadChecked : public FolderTest {};

TEST_F(ReadChecked, ReportsEachFileThatDoesNotFitTheManifest) {
    OutputFolder(folder).write({{"machine.json", "m"}, {"scan.json", "s"}});
    EXPECT_THAT(read_checked(folder / "scan.json", "a scan").problems, IsEmpty());
    std::ofstream(folder / "machine.json") << "edited";
    const auto edited = read_checked(folder / "machine.json", "a description");
    EXPECT_EQ(edited.content, "edited");
    EXPECT_THAT(edited.problems, ElementsAre(AllOf(HasSubstr("machine.json: does not fit"), HasSubstr("6 bytes"))));
    EXPECT_THAT(read_checked(folder / "scan.json", "a scan").problems, ElementsAre(HasSubstr("machine.json")));
}

TEST_F(ReadChecked, ReadsFilesWithoutAManifestAsTheyAre) {
    write_whole(folder / "machine.json", "m");
    EXPECT_EQ(read_checked(folder / "machine.json", "a description").content, "m");
    EXPECT_THAT([&] { (void)read_checked(folder / "none", "a description"); },
                ThrowsMessage<InputError>(HasSubstr("expected a description")));
}

TEST_F(ReadChecked, ReadsTheNewSetWhoseRenamingWasCutOff) {
    OutputFolder(folder).write({{"machine.json", "m"}, {"scan.json", "s"}});
    OutputFolder(folder / "").write({{"machine.json", "m2"}, {"scan.json", "s2"}});
    // As after a cut between the first and the second renaming.
    fs::rename(folder / "manifest.json", folder / "manifest.json.part");
    fs::rename(folder / "scan.json", folder / "scan.json.part");
    std::ofstream(folder / "scan.json") << "s";
    std::ofstream(folder / "manifest.json")
        << to_json(Manifest{{"machine.json", listing_of("m")}, {"scan.json", listing_of("s")}});
    const auto read = read_checked(folder / "scan.json", "a scan");
    EXPECT_EQ(read.content, "s2");
    EXPECT_THAT(read.problems, IsEmpty());
}

/// Real files that a writer replaces after the first one was read.
class ReplacedWhileRead final : public FileSystem {
public:
    ReplacedWhileRead(fs::path folder, std::vector<NamedContent> next)
        : folder_(std::move(folder)), next_(std::move(next)) {}
    OpenFile create(const fs::path& file) override { return real_files().create(file); }
    std::size_t write(const OpenFile& file, std::string_view text) override { return real_files().write(file, text); }
    void sync(const OpenFile& file) override { real_files().sync(file); }
    void close(const OpenFile& file) override { real_files().close(file); }
    void rename(const fs::path& from, const fs::path& to) override { real_files().rename(from, to); }
    void remove(const fs::path& file) override { real_files().remove(file); }
    void sync_folder(const fs::path& folder) override { real_files().sync_folder(folder); }
    [[nodiscard]] std::optional<std::string> read(const fs::path& file) const override {
        auto content = real_files().read(file);
        if (!replaced_) {
            replaced_ = true;
            OutputFolder(folder_).write(next_);
        }
        return content;
    }

private:
    fs::path folder_;
    std::vector<NamedContent> next_;
    mutable bool replaced_ = false;
};

TEST_F(ReadChecked, ASetThatIsReplacedWhileItIsReadIsReadAgain) {
    OutputFolder(folder).write({{"machine.json", "m"}, {"scan.json", "s"}});
    const ReplacedWhileRead files(folder, {{"machine.json", "m2"}, {"scan.json", "s2"}});
    const auto set = read_set(folder, files);
    EXPECT_THAT(set.problems, IsEmpty());
    EXPECT_EQ(set.contents.at("machine.json"), "m2");
    EXPECT_EQ(set.contents.at("scan.json"), "s2");
}

class Lock : public FolderTest {};

TEST_F(Lock, RefusesASecondHolderAndNamesTheFirst) {
    std::optional<FolderLock> first(std::in_place, folder, "gputomo scan --out here");
    EXPECT_THAT([&] { FolderLock(folder, "second"); },
                ThrowsMessage<InputError>(AllOf(StartsWith(folder.string()), HasSubstr(std::to_string(getpid())),
                                                HasSubstr("gputomo scan --out here"))));
    first.reset();
    EXPECT_NO_THROW(FolderLock(folder, "second"));
    EXPECT_EQ(count(), 0);
}

TEST_F(Lock, EndsWithItsProcessHoweverThatEnds) {
    int ready[2] = {};
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const FolderLock lock(folder, "child");
        static_cast<void>(::write(ready[1], "x", 1) > 0);
        pause();
        _exit(0);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_THROW(FolderLock(folder, "parent"), InputError);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_NO_THROW(FolderLock(folder, "parent"));
    close(ready[0]);
    close(ready[1]);
}

}  // namespace
}  // namespace gputomo::files
