// Tests that outputs reach the disk whole, replace nothing that they should not, and say where and when they were made.
#include "program.hpp"

#include "files/folder_lock.hpp"
#include "files/manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace gputomo::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class Outputs : public testing::ProgramTest {
protected:
    [[nodiscard]] testing::Ran scan(const std::string& only, std::vector<std::string> more = {},
                                    const testing::How& how = {}) const {
        std::vector<std::string> arguments{"scan", "--only", only, "--quick", "--out", "out"};
        if (std::find(more.begin(), more.end(), "--device") == more.end())
            more.insert(more.end(), {"--device", "sim:gtx280"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments, how);
    }
    /// "ID STATUS" of each experiment in the file.
    [[nodiscard]] std::vector<std::string> experiments(const std::string& file) const {
        std::vector<std::string> all;
        const auto scan = json::parse(read(file));
        for (const auto& e : scan.at("experiments"))
            all.push_back(e.at("id").get<std::string>() + " " + e.at("status").get<std::string>());
        return all;
    }
    /// The whole set of files in a folder, with an expectation that it is whole.
    std::map<std::string, std::string> whole_set(const std::string& folder) const {
        const auto set = files::read_set(path(folder));
        EXPECT_THAT(set.problems, IsEmpty());
        EXPECT_EQ(set.contents.size(), 3U);
        return set.contents;
    }
};

TEST_F(Outputs, AScanOfSomeExperimentsIsMergedIntoTheOneInTheFolder) {
    ASSERT_EQ(scan("attributes,shared_latency").code, 0);
    const auto before = json::parse(read("out/machine.json"));
    const auto ran = scan("clock");
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto after = json::parse(read("out/machine.json"));
    EXPECT_EQ(after.at("shared"), before.at("shared"));
    EXPECT_EQ(after.at("topology").at("sms"), before.at("topology").at("sms"));
    EXPECT_THAT(experiments("out/scan.json"), ElementsAre("attributes done", "shared_latency done", "clock done"));
    EXPECT_THAT(read("out/report.html"), HasSubstr("shared.latency"));
    whole_set("out");
}

TEST_F(Outputs, AScanOfSomeExperimentsIsNotMergedIntoAnotherGpus) {
    ASSERT_EQ(scan("clock").code, 0);
    const auto before = whole_set("out");
    const auto ran = scan("clock", {"--device", "sim:gtx980"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("out/scan.json: was measured on another GPU"), HasSubstr("GeForce GTX 280"),
                               HasSubstr("another --out"), Not(HasSubstr("%"))));
    EXPECT_EQ(whole_set("out"), before);
    fs::copy_file(source("recordings/h200-1.json"), path("out/scan.json"), fs::copy_options::overwrite_existing);
    const auto edited = scan("clock");
    EXPECT_EQ(edited.code, 2);
    EXPECT_THAT(edited.err, HasSubstr("out/scan.json: does not fit out/manifest.json"));
}

TEST_F(Outputs, AnInterruptedScanLeavesTheFolderAloneAndIsResumed) {
    for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
        SCOPED_TRACE(signal);
        fs::remove_all(path("out"));
        ASSERT_EQ(scan("attributes,shared_latency").code, 0);
        const auto before = whole_set("out");
        const auto cut = scan("clock,tlb", {}, {.interrupt_at = "% tlb", .signal = signal});
        EXPECT_EQ(cut.code, signal == SIGKILL ? 128 + SIGKILL : 130);
        EXPECT_EQ(whole_set("out"), before);
        EXPECT_EQ(experiments("out/partial/scan.json").front(), "clock done");
        const auto resumed = scan("clock,caches,page_window,control_flow", {"--resume"});
        EXPECT_EQ(resumed.code, 0) << resumed.err;
        EXPECT_THAT(resumed.err, Not(HasSubstr("% clock")));
        EXPECT_FALSE(exists("out/partial"));
        EXPECT_THAT(experiments("out/scan.json"), ::testing::IsSupersetOf({"attributes done", "shared_latency done",
                                                                           "clock done", "control_flow done"}));
        whole_set("out");
    }
}

TEST_F(Outputs, ResumingRefusesAnotherGpuAndOtherOptions) {
    ASSERT_EQ(scan("clock,tlb", {}, {.interrupt_at = "% tlb"}).code, 130);
    const auto gpu = scan("clock", {"--resume", "--device", "sim:gtx980"});
    EXPECT_EQ(gpu.code, 2);
    EXPECT_THAT(gpu.err, HasSubstr("out/partial/scan.json: was measured on another GPU"));
    const auto seed = scan("clock", {"--resume", "--seed", "9"});
    EXPECT_EQ(seed.code, 2);
    EXPECT_THAT(seed.err, HasSubstr("was measured with --seed 1 --noise 0 --quick"));
    const auto noise = scan("clock", {"--resume", "--noise", "1"});
    EXPECT_EQ(noise.code, 2);
    EXPECT_THAT(noise.err, HasSubstr("was measured with --seed 1 --noise 0 --quick"));
    const auto fewer = scan("clock", {"--resume"});
    EXPECT_EQ(fewer.code, 2);
    EXPECT_THAT(fewer.err,
                AllOf(HasSubstr("out/partial/scan.json: has results that --only leaves out: "), HasSubstr("caches")));
    EXPECT_EQ(experiments("out/partial/scan.json").front(), "clock done");
}

TEST_F(Outputs, AResumedScanThatIsKilledLosesNothingThatWasDone) {
    ASSERT_EQ(scan("clock,shared_latency,tlb", {}, {.interrupt_at = "% tlb"}).code, 130);
    const auto killed = scan("tlb,shared_latency", {"--resume"}, {.interrupt_at = "% tlb", .signal = SIGKILL});
    EXPECT_EQ(killed.code, 128 + SIGKILL);
    EXPECT_THAT(experiments("out/partial/scan.json"), ::testing::IsSupersetOf({"clock done", "shared_latency done"}));
}

TEST_F(Outputs, AWholeScanDoesNotReplaceThatOfAnotherGpu) {
    ASSERT_EQ(scan("attributes").code, 0);
    const auto before = whole_set("out");
    const auto ran = run({"scan", "--device", "sim:gtx980", "--out", "out"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("--out out: holds the scan of another GPU: "), HasSubstr("GTX 280")));
    EXPECT_EQ(whole_set("out"), before);
}

TEST_F(Outputs, ANewScanKeepsTheResultsOfTheInterruptedOne) {
    setenv("SOURCE_DATE_EPOCH", "1795430400", 1);
    ASSERT_EQ(scan("clock,tlb", {}, {.interrupt_at = "% tlb"}).code, 130);
    const auto ran = scan("clock");
    unsetenv("SOURCE_DATE_EPOCH");
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.err, HasSubstr("kept in out/partial-20261123T"));
    EXPECT_FALSE(exists("out/partial"));
    EXPECT_THAT(scan("clock", {"--resume"}).err, HasSubstr("no interrupted scan in out/partial"));
}

TEST_F(Outputs, ASecondScanIntoAFolderIsRefusedAndNamesTheFirst) {
    fs::create_directories(path("out"));
    const files::FolderLock first(path("out"), "the first scan");
    const auto second = scan("clock");
    EXPECT_EQ(second.code, 2);
    EXPECT_THAT(second.err, AllOf(HasSubstr("out: another gputomo writes to this folder: process "),
                                  HasSubstr(std::to_string(getpid())), HasSubstr("the first scan")));
    EXPECT_FALSE(exists("out/scan.json"));
}

TEST_F(Outputs, AFullDiskLeavesTheOldFilesAndTheTableIsPrinted) {
    ASSERT_EQ(scan("clock").code, 0);
    const auto before = whole_set("out");
    const auto ran = scan("clock,shared_latency", {}, {.file_limit = 3000});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("clock.read_cost"), HasSubstr("shared.latency")));
    EXPECT_THAT(ran.err, AllOf(HasSubstr("cannot be written: File too large"), HasSubstr("the results are not saved")));
    EXPECT_EQ(whole_set("out"), before);
    for (const auto& entry : fs::recursive_directory_iterator(path("out")))
        EXPECT_THAT(entry.path().string(), Not(HasSubstr(".part.")));
}

TEST_F(Outputs, AScanIsSavedAlsoWhereItsTableCannotBePrinted) {
    EXPECT_EQ(scan("clock", {}, {.out = "/dev/full"}).code, 1);
    EXPECT_EQ(whole_set("out").count("machine.json"), 1U);
    EXPECT_FALSE(exists("out/partial"));
}

TEST_F(Outputs, NoOutputReplacesAnInput) {
    fs::copy_file(source("machines/gtx280.json"), path("m.json"));
    fs::create_symlink("m.json", path("link.json"));
    fs::create_directories(path("out"));
    fs::create_hard_link(path("m.json"), path("out/machine.json"));
    fs::copy_file(source("tests/data/ptx/vector_add.ptx"), path("k.ptx"));
    write("a", std::string(16, 'a'));
    const auto machine = read("m.json"), kernel = read("k.ptx");
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"report", "m.json", "--out", "m.json"},
             {"report", "m.json", "--out", "link.json"},
             {"report", "sim:gtx980", "link.json", "--out", "m.json"},
             {"scan", "--device", "sim:m.json", "--only", "clock", "--out", "out"},
             {"run", "clock", "--device", "sim:m.json", "--csv", "m.json"},
             {"surface", "--device", "sim:m.json", "--out", "m.json"},
             {"predict", "all", "--device", "sim:gtx280", "--machine", "m.json", "--out", "m.json"},
             {"history", "--db", "m.json", "--add", "m.json", "--specimen", "a"},
             {"simulate", "k.ptx", "--kernel", "vector_add", "--grid", "1", "--block", "4", "--arg", "buf:16:a",
              "--arg", "buf:16", "--arg", "buf:16", "--arg", "u32:4", "--dump", "0:k.ptx"},
             {"simulate", "k.ptx", "--kernel", "vector_add", "--grid", "1", "--block", "4", "--arg", "buf:16:a",
              "--arg", "buf:16", "--arg", "buf:16", "--arg", "u32:4", "--dump", "0:a"}}) {
        const auto ran = run(arguments);
        EXPECT_EQ(ran.code, 2) << ::testing::PrintToString(arguments) << ran.err;
        EXPECT_THAT(ran.err, HasSubstr("is the input ")) << ::testing::PrintToString(arguments);
    }
    EXPECT_EQ(run({"export", "--to", "csv", "m.json"}, {.out = path("copy")}).code, 0);
    EXPECT_EQ(read("m.json"), machine);
    EXPECT_EQ(read("k.ptx"), kernel);
    EXPECT_EQ(read("a"), std::string(16, 'a'));
    EXPECT_EQ(run({"export", "--to", "csv", "m.json"}, {.out = path("m.json")}).code, 2) << "the shell emptied it";
}

TEST_F(Outputs, ASymbolicLinkIsFollowedAndNotReplaced) {
    fs::create_directories(path("elsewhere"));
    fs::create_symlink("elsewhere/page.html", path("page.html"));
    fs::create_symlink("elsewhere", path("out"));
    EXPECT_EQ(run({"report", "sim:gtx980", "--out", "page.html"}).code, 0);
    EXPECT_TRUE(fs::is_symlink(path("page.html")));
    EXPECT_THAT(read("elsewhere/page.html"), HasSubstr("GTX 980"));
    EXPECT_EQ(scan("clock").code, 0);
    EXPECT_TRUE(fs::is_symlink(path("out")));
    EXPECT_TRUE(exists("elsewhere/machine.json"));
}

TEST_F(Outputs, TheReportOfAScanIsMadeAgainInItsFolder) {
    ASSERT_EQ(scan("clock").code, 0);
    const auto before = whole_set("out");
    EXPECT_EQ(run({"report", "out/scan.json", "--surface", source("tests/data/surfaces/gtx280.json.gz"), "--out",
                   "out/report.html"})
                  .code,
              0);
    EXPECT_NE(whole_set("out").at("report.html"), before.at("report.html"));
}

TEST_F(Outputs, NoCommandThatWritesOneFileReplacesThatOfAScan) {
    ASSERT_EQ(scan("clock").code, 0);
    const auto before = whole_set("out");
    write("kernel.ptx",
          ".version 7.0\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\tret;\n}\n");
    fs::create_symlink("out/machine.json", path("link"));
    const std::vector<std::vector<std::string>> commands{
        {"surface", "--device", "sim:gtx280", "--access", "sfu", "--alpha", "1", "--ilp", "1", "--warps", "1", "--out"},
        {"report", "sim:h200", "--out"},
        {"report", "out/scan.json", "sim:gtx980", "--out"},
        {"run", "clock", "--device", "sim:gtx280", "--csv"},
        {"history", "--add", "sim:gtx280", "--specimen", "one", "--db"},
        {"accuracy", source("suites/hecbench.json"), "--captures", "none", "--out"},
        {"accuracy", source("suites/hecbench.json"), "--captures", "none", "--results"},
        {"simulate", "kernel.ptx", "--kernel", "k", "--device", "sim:gtx980", "--grid", "1", "--block", "32", "--arg",
         "buf:64", "--dump"}};
    for (const auto& command : commands)
        for (const std::string file :
             {"out/machine.json", "out/scan.json", "out/report.html", "out/manifest.json", "link"}) {
            auto arguments = command;
            arguments.push_back(command.back() == "--dump" ? "0:" + file : file);
            if (arguments[1] == file) continue;
            const auto ran = run(arguments);
            EXPECT_EQ(ran.code, 2) << command.front() << " " << file << ran.out;
            EXPECT_THAT(ran.err, AllOf(HasSubstr("belongs to the files that "), HasSubstr("out/manifest.json lists"),
                                       HasSubstr("expected another name")))
                << command.front();
            EXPECT_EQ(whole_set("out"), before) << command.front() << " " << file;
        }
}

TEST_F(Outputs, AFileThatDoesNotFitItsManifestIsReportedAndRead) {
    ASSERT_EQ(scan("clock").code, 0);
    fs::copy_file(source("machines/gtx280.json"), path("out/machine.json"), fs::copy_options::overwrite_existing);
    const auto ran = run({"diff", "out/machine.json", "sim:gtx280"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.err, StartsWith("warning: out/machine.json: does not fit out/manifest.json: found "));
    EXPECT_THAT(run({"diff", "out/scan.json", "sim:gtx280"}).err, HasSubstr("warning: out/machine.json"));
}

TEST_F(Outputs, FoldersAsInputsAreNamedAsSuch) {
    fs::create_directories(path("folder"));
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"diff", "folder", "sim:gtx280"},
                                               {"report", "folder", "--out", "r.html"},
                                               {"export", "--to", "csv", "folder"},
                                               {"predict", "folder", "--kernel", "k", "--machine", "sim:gtx280"}}) {
        const auto ran = run(arguments);
        EXPECT_EQ(ran.code, 2);
        EXPECT_THAT(ran.err, HasSubstr("folder: is a folder; expected a ")) << ::testing::PrintToString(arguments);
    }
}

TEST_F(Outputs, FaultyNumbersAndGridsSayWhatWasExpected) {
    const auto tolerance = run({"diff", "sim:gtx280", "sim:gtx280", "--tolerance", "-1"});
    EXPECT_EQ(tolerance.code, 2);
    EXPECT_THAT(tolerance.err, AllOf(HasSubstr("--tolerance"), HasSubstr("found -1; expected a number of 0 or more")));
    for (const char* grid : {"1x2", "1,2,3,4", "1,,2", "0"}) {
        const auto ran = run({"simulate", source("tests/data/ptx/vector_add.ptx"), "--kernel", "vector_add", "--block",
                              "32", "--grid", grid});
        EXPECT_EQ(ran.code, 2);
        EXPECT_THAT(ran.err, AllOf(HasSubstr(std::string("--grid ") + grid), HasSubstr("expected X[,Y,Z]"))) << grid;
    }
}

TEST_F(Outputs, ASpecimenThatIsNotUtf8IsRefusedAndBreaksNoListing) {
    const auto machine = source("machines/gtx280.json");
    const std::vector<std::string> add{"history", "--db", "h.sqlite", "--add", machine, "--specimen"};
    auto good = add, bad = add;
    good.push_back("caf\xc3\xa9");
    bad.push_back("caf\xe9");
    EXPECT_EQ(run(good).code, 0);
    const auto ran = run(bad);
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("not UTF-8"));
    const auto listed = run({"history", "--db", "h.sqlite", "--json"});
    EXPECT_EQ(listed.code, 0);
    EXPECT_EQ(json::parse(listed.out).at("scans").size(), 1U);
}

class Origins : public Outputs {
public:
    Origins() { setenv("SOURCE_DATE_EPOCH", "1795430400", 1); }
    ~Origins() override { unsetenv("SOURCE_DATE_EPOCH"); }

protected:
    static void expect_origin(const json& origin, const std::string& command) {
        EXPECT_THAT(origin.at("version").get<std::string>(), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+(\\.dev[0-9]+)?"));
        EXPECT_THAT(origin.at("commit").get<std::string>(), MatchesRegex("[0-9a-f]{12}(-dirty)?|unknown"));
        EXPECT_THAT(origin.at("command").get<std::string>(), HasSubstr("gputomo " + command));
        EXPECT_EQ(origin.at("date"), kDate);
    }
    static constexpr const char* kDate = "2026-11-23T10:40:00Z";
};

TEST_F(Origins, AScanNamesItsGpuAndItsStateBeforeAndAfter) {
    ASSERT_EQ(scan("clock").code, 0);
    for (const char* file : {"out/machine.json", "out/scan.json"}) {
        const auto origin = json::parse(read(file)).at("origin");
        expect_origin(origin, "scan --only clock --quick --out out");
        const auto& gpu = origin.at("gpu");
        EXPECT_EQ(gpu.at("name"), "GeForce GTX 280");
        EXPECT_EQ(gpu.at("device"), "sim:gtx280");
        EXPECT_EQ(gpu.at("description").get<std::string>().size(), 64U);
        EXPECT_FALSE(gpu.contains("driver")) << "a simulated GPU has none";
        for (const char* when : {"before", "after"}) EXPECT_EQ(gpu.at(when).at("sm_mhz"), 1296.0) << when;
    }
    EXPECT_EQ(json::parse(read("out/scan.json")).at("experiments").at(0).at("date"), kDate);
    EXPECT_THAT(read("out/report.html"), HasSubstr("Measured 2026-11-23T10:40:00Z by gputomo "));
}

TEST_F(Origins, EveryJsonOutputHasOne) {
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"list", "models", "--json"},
             {"predict", source("tests/data/ptx/vector_add.ptx"), "--kernel", "vector_add", "--machine", "sim:gtx980",
              "--json"},
             {"reproduce", "wong2010", "--only", "wong2010.sec4f.latency", "--quiet", "--json"},
             {"evaluate", "--surface", source("recordings/h200-surface-l1.json.gz"), "--machine", "sim:h200",
              "--access", "l1", "--json"},
             {"validate", "--caches", "1", "--seed", "3", "--json"}}) {
        const auto ran = run(arguments);
        SCOPED_TRACE(arguments[0] + ran.err);
        expect_origin(json::parse(ran.out).at("origin"), arguments[0]);
    }
    ASSERT_EQ(run({"surface", "--device", "sim:gtx280", "--access", "shared", "--alpha", "1", "--ilp", "1", "--warps",
                   "1", "--turn", "16", "--out", "s.json"})
                  .code,
              0);
    const auto surface = json::parse(read("s.json")).at("origin");
    expect_origin(surface, "surface");
    EXPECT_EQ(surface.at("gpu").at("after").at("sm_mhz"), 1296.0);
}

TEST_F(Origins, NamesOfFilesThatAreNotUtf8BreakNoOutput) {
    fs::copy_file(source("machines/gtx280.json"), path("caf\xe9.json"));
    ASSERT_EQ(run({"surface", "--device", "sim:caf\xe9.json", "--access", "shared", "--alpha", "1", "--ilp", "1",
                   "--warps", "1", "--turn", "16", "--out", "s\xe9.json"})
                  .code,
              0);
    const auto origin = json::parse(read("s\xe9.json")).at("origin");
    EXPECT_THAT(origin.at("command").get<std::string>(), HasSubstr("s\xef\xbf\xbd.json"));
    EXPECT_EQ(origin.at("gpu").at("device"), "sim:caf\xef\xbf\xbd.json");
    ASSERT_EQ(scan("clock", {"--device", "sim:caf\xe9.json"}).code, 0);
    EXPECT_EQ(scan("clock", {"--device", "sim:caf\xe9.json"}).code, 0) << "its own files are read again";
}

TEST_F(Origins, DiffAndHistoryShowThemAndDoNotCountThem) {
    ASSERT_EQ(scan("clock").code, 0);
    fs::copy_file(path("out/machine.json"), path("first.json"));
    setenv("SOURCE_DATE_EPOCH", "1795434000", 1);
    fs::remove_all(path("out"));
    ASSERT_EQ(scan("clock").code, 0);
    const auto diff = run({"diff", "first.json", "out/machine.json", "--strict"});
    EXPECT_EQ(diff.code, 0);
    EXPECT_THAT(diff.out, AllOf(HasSubstr("first      2026-11-23T10:40:00Z by gputomo "),
                                HasSubstr("second     2026-11-23T11:40:00Z by gputomo "), HasSubstr(" 0 differ")));
    for (const char* file : {"first.json", "out/machine.json"})
        EXPECT_EQ(run({"history", "--db", "h.sqlite", "--add", file, "--specimen", "mine"}).code, 0);
    const auto scans = json::parse(run({"history", "--db", "h.sqlite", "--json"}).out).at("scans");
    EXPECT_EQ(scans.at(1).at("time"), "2026-11-23T11:40:00Z");
    EXPECT_EQ(scans.at(1).at("measured").at("gpu").at("name"), "GeForce GTX 280");
    const auto changes = run({"history", "--db", "h.sqlite", "--changes"});
    EXPECT_EQ(changes.code, 0);
    EXPECT_THAT(changes.out, HasSubstr("  before 2026-11-23T10:40:00Z by gputomo "));
}

TEST_F(Origins, TheDateIsThatOfTheStartAlsoWhereTheCommandAsksForItLater) {
    unsetenv("SOURCE_DATE_EPOCH");
    const auto kernel = read(source("tests/data/ptx/vector_add.ptx"));
    ASSERT_EQ(mkfifo(path("k.ptx").c_str(), 0600), 0);
    std::time_t started = 0;
    std::thread writer([&] {
        std::ofstream pipe(path("k.ptx"));  // waits until the program opens the pipe
        started = std::time(nullptr);
        std::this_thread::sleep_for(std::chrono::milliseconds(1200));
        pipe << kernel;
    });
    const auto ran = run({"predict", "k.ptx", "--kernel", "vector_add", "--machine", "sim:gtx980", "--json"});
    writer.join();
    ASSERT_EQ(ran.code, 0) << ran.err;
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&started));
    EXPECT_LE(json::parse(ran.out).at("origin").at("date").get<std::string>(), text.data());
}

TEST_F(Origins, AFaultyDateIsRefused) {
    setenv("SOURCE_DATE_EPOCH", "today", 1);
    const auto ran = run({"list", "models", "--json"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("SOURCE_DATE_EPOCH=today: expected seconds since 1970"));
}

/// Known inaccuracy D-084 names the leaves that these scans decide differently.
TEST_F(Origins, HealthyScansOfOneGpuDifferInKnownLeavesOnly) {
    for (const std::string n : {"1", "2"}) {
        const auto file = source("recordings/h200-scan-" + n + ".json.gz"), time = "2026-11-2" + n + "T00:00:00Z";
        ASSERT_EQ(run({"history", "--db", "h.sqlite", "--add", file, "--specimen", "one", "--time", time}).code, 0);
    }
    const auto ran = run({"history", "--db", "h.sqlite", "--changes"});
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_THAT(ran.out, AllOf(HasSubstr(" within repeatability, 5 differ"), Not(HasSubstr(" 0 within"))));
    for (const std::string leaf : {"issue.scoreboard_at_least", "caches.l2.filling_store", "accesses.l2_atomic.units",
                                   "accesses.l2_atomic_float.sector_cycles", "launch.cluster_interval"})
        EXPECT_THAT(ran.out, HasSubstr("  " + leaf + " "));
}

}  // namespace
}  // namespace gputomo::cli
