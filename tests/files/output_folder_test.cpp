#include "files/output_folder.hpp"

#include "disk_model.hpp"

#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <functional>
#include <set>

namespace gputomo::files {
namespace {

using testing::CutOff;
using testing::DiskModel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Contents = std::map<std::string, std::string>;
namespace fs = std::filesystem;

const fs::path kFolder = "out";

std::vector<NamedContent> files_of(const Contents& contents) {
    std::vector<NamedContent> files;
    for (const auto& [name, content] : contents) files.push_back({name, content});
    return files;
}

const Contents kOld{{"machine.json", "old machine"}, {"report.html", ""}, {"scan.json", "an old scan"}};
const Contents kNew{{"machine.json", "a new machine"}, {"report.html", "a page"}, {"scan.json", "new scan"}};
const Contents kNext{{"machine.json", "next"}, {"report.html", "next page"}, {"scan.json", "next scan"}};

void write(FileSystem& system, const Contents& contents) { OutputFolder(kFolder, system).write(files_of(contents)); }

/// Cuts `action` on copies of `disk` at its first, second, ... operation until it ends. Hands each disk that may be
/// left to `look`, and returns the number of operations.
std::size_t cut_everywhere(const DiskModel& disk, const std::function<void(DiskModel&)>& action,
                           const std::function<void(const DiskModel&)>& look) {
    for (std::size_t n = 0;; ++n) {
        const auto tried = disk.left().front();
        tried->cut_at(n);
        bool ended = true;
        try {
            action(*tried);
        } catch (const CutOff&) {
            ended = false;
        }
        for (const auto& left : tried->left()) look(*left);
        if (ended) return n;
    }
}

class OutputFolderTest : public ::testing::Test {
protected:
    OutputFolderTest() { write(disk, kOld); }
    DiskModel disk;
};

TEST_F(OutputFolderTest, CutAnywhereLeavesTheOldOrTheNewSetWhole) {
    std::map<Contents, std::size_t> found;
    const auto operations = cut_everywhere(
        disk, [](DiskModel& tried) { write(tried, kNew); },
        [&](const DiskModel& left) {
            const auto set = read_set(kFolder, left);
            EXPECT_THAT(set.problems, IsEmpty());
            ++found[set.contents];
        });
    // Three files and a manifest, each of them created, written at least once, synchronised, closed and renamed, and
    // the folder synchronised four times.
    EXPECT_GE(operations, 4U * 5 + 4);
    EXPECT_EQ(found.size(), 2U);
    EXPECT_GT(found[kOld], 20U);
    EXPECT_GT(found[kNew], 5U);
}

TEST_F(OutputFolderTest, TheNextWriteAfterACutIsWholeAndMayBeCutAnywhereToo) {
    std::set<Contents> found;
    std::size_t cuts = 0;
    cut_everywhere(
        disk, [](DiskModel& tried) { write(tried, kNew); },
        [&](const DiskModel& first) {
            const auto before = read_set(kFolder, first).contents;
            cut_everywhere(
                first, [](DiskModel& tried) { write(tried, kNext); },
                [&](const DiskModel& left) {
                    const auto set = read_set(kFolder, left);
                    EXPECT_THAT(set.problems, IsEmpty());
                    EXPECT_TRUE(set.contents == before || set.contents == kNext);
                    found.insert(set.contents);
                    ++cuts;
                });
        });
    EXPECT_THAT(found, ElementsAre(kNew, kNext, kOld));
    EXPECT_GT(cuts, 1000U);
}

TEST(OutputFolder, CutAtTheFirstWriteLeavesNothingOrTheWholeSet) {
    std::set<Contents> found;
    cut_everywhere(
        DiskModel(), [](DiskModel& tried) { write(tried, kNew); },
        [&](const DiskModel& left) { found.insert(read_set(kFolder, left).contents); });
    EXPECT_THAT(found, ElementsAre(Contents(), kNew));
}

TEST_F(OutputFolderTest, AFullDiskLeavesTheOldSetAndNoUnfinishedFiles) {
    DiskModel counted;
    counted.cut_at(1000);
    write(counted, kNew);
    const auto before_renaming = counted.operations() - 6;  // three renames, one of the manifest, two synchronisations
    for (std::size_t n = 0; n < before_renaming; ++n) {
        const auto tried = disk.left().front();
        tried->fail_at(n, std::make_exception_ptr(Error("No space left on device")));
        EXPECT_THROW(write(*tried, kNew), Error) << n;
        tried->never_cut();
        EXPECT_EQ(read_set(kFolder, *tried).contents, kOld) << n;
        EXPECT_EQ(tried->count(), kOld.size() + 1) << n;
    }
}

TEST_F(OutputFolderTest, FilesThatAreNotWrittenAgainStayListed) {
    write(disk, {{"scan.json", "another"}, {"extra.csv", "1,2"}});
    auto expected = kOld;
    expected["scan.json"] = "another", expected["extra.csv"] = "1,2";
    EXPECT_EQ(read_set(kFolder, disk).contents, expected);
}

TEST_F(OutputFolderTest, ChangedAndMissingFilesAreNamed) {
    write_and_sync(disk, kFolder / "scan.json", "edited");
    disk.remove(kFolder / "report.html");
    const auto set = read_set(kFolder, disk);
    EXPECT_THAT(set.problems, ElementsAre(HasSubstr("out/report.html: is missing"),
                                          HasSubstr("out/scan.json: does not fit out/manifest.json: found 6 bytes")));
    EXPECT_THAT(set.contents, ElementsAre(::testing::Pair("machine.json", "old machine")));
}

TEST_F(OutputFolderTest, CutAnywhereLeavesAWholeSetWhereAListedFileWasDeleted) {
    write(disk, {{"extra.csv", "1,2"}});
    disk.remove(kFolder / "extra.csv");
    disk.sync_folder(kFolder);
    std::map<Contents, std::size_t> found;
    cut_everywhere(
        disk, [](DiskModel& tried) { write(tried, kNew); },
        [&](const DiskModel& left) { ++found[read_set(kFolder, left).contents]; });
    EXPECT_EQ(found.size(), 2U);
    EXPECT_GT(found[kOld], 20U);
    EXPECT_GT(found[kNew], 5U);
    write(disk, kNew);
    EXPECT_THAT(read_set(kFolder, disk).problems, IsEmpty());
}

TEST(Manifest, RefusesTextThatIsNoManifestAndNamesOutsideTheFolder) {
    const auto text = to_json(Manifest{{"a", listing_of("a")}});
    EXPECT_TRUE(manifest_from_json(text));
    for (std::size_t cut = 0; cut + 2 < text.size(); ++cut)
        EXPECT_FALSE(manifest_from_json(text.substr(0, cut))) << cut;
    for (const char* name : {"../a", "/etc/passwd", "b/a", ""})
        EXPECT_FALSE(manifest_from_json(to_json(Manifest{{name, listing_of("a")}}))) << name;
    for (const char* wrong : {"[]", "{}", R"({"schema":"gputomo-manifest-1","files":[]})",
                              R"({"schema":"gputomo-manifest-1","files":{"a":{"bytes":-1,"sha256":"00"}}})"})
        EXPECT_FALSE(manifest_from_json(wrong)) << wrong;
}

/// The real files of this computer, of which one operation does not take place.
class CutFiles final : public FileSystem {
public:
    explicit CutFiles(std::size_t last) : left_(last) {}
    OpenFile create(const fs::path& file) override { return step(), real_files().create(file); }
    std::size_t write(const OpenFile& file, std::string_view content) override {
        if (left_ == 0) static_cast<void>(real_files().write(file, content.substr(0, content.size() / 2)));
        return step(), real_files().write(file, content);
    }
    void sync(const OpenFile& file) override { step(), real_files().sync(file); }
    void close(const OpenFile& file) override { real_files().close(file); }
    void rename(const fs::path& from, const fs::path& to) override { step(), real_files().rename(from, to); }
    void remove(const fs::path& file) override { step(), real_files().remove(file); }
    void sync_folder(const fs::path& folder) override { step(), real_files().sync_folder(folder); }
    [[nodiscard]] std::optional<std::string> read(const fs::path& file) const override {
        return real_files().read(file);
    }

private:
    void step() {
        if (left_-- == 0) throw CutOff();
    }
    std::size_t left_;
};

TEST(OutputFolder, CutAnywhereOnARealDiskLeavesTheOldOrTheNewSetWhole) {
    const fs::path folder = fs::path(::testing::TempDir()) / ("gputomo_output_folder" + std::to_string(getpid()));
    std::set<Contents> found;
    bool ended = false;
    for (std::size_t n = 0; !ended; ++n) {
        fs::remove_all(folder);
        fs::create_directories(folder);
        OutputFolder(folder).write(files_of(kOld));
        CutFiles files(n);
        try {
            OutputFolder(folder, files).write(files_of(kNew));
            ended = true;
        } catch (const CutOff&) {  // as it should be
        }
        const auto set = read_set(folder);
        EXPECT_THAT(set.problems, IsEmpty()) << n;
        EXPECT_TRUE(set.contents == kOld || set.contents == kNew) << n;
        found.insert(set.contents);
    }
    EXPECT_EQ(found.size(), 2U);
    fs::remove_all(folder);
}

}  // namespace
}  // namespace gputomo::files
