// Tests of commands that succeed: exit code, results on stdout, progress on stderr, and files.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

namespace gputomo::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class Commands : public testing::ProgramTest {
protected:
    /// Writes a description with these members in "shared".
    void write_machine(const std::string& name, const std::string& shared) const {
        write(name, R"({"schema":"gputomo-machine-1","shared":{)" + shared + "}}");
    }
};

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

TEST_F(Commands, ListsAreJsonWithASchema) {
    const auto experiments = run({"list", "experiments", "--json"});
    EXPECT_EQ(experiments.code, 0);
    EXPECT_EQ(experiments.err, "");
    const auto list = json::parse(experiments.out);
    EXPECT_EQ(list.at("schema"), "gputomo-list-1");
    bool clock = false;
    for (const auto& row : list.at("experiments")) {
        for (const char* member : {"title", "source"}) EXPECT_FALSE(row.at(member).get<std::string>().empty()) << row;
        const bool for_plots_alone = row.at("id") == "kernels" || row.at("id") == "occupancy_over_time";
        EXPECT_TRUE(!row.at("provides").empty() || for_plots_alone) << row;
        clock = clock || row.at("id") == "clock";
    }
    EXPECT_TRUE(clock);
    const auto devices = json::parse(run({"list", "devices", "--json"}).out);
    EXPECT_EQ(devices.at("schema"), "gputomo-list-1");
    std::vector<std::string> ids;
    for (const auto& row : devices.at("devices")) ids.push_back(row.at("id"));
    EXPECT_THAT(ids, IsSupersetOf({"sim:8800gtx", "sim:gtx280", "sim:gtx480", "sim:gtx680", "sim:gtx980"}));
}

TEST_F(Commands, ShowPrintsAValueWithItsEvidence) {
    write_machine("m.json", R"("banks":{"value":48,"unit":"count","method":"counted: twice","confidence":0.9,)"
                            R"("interval":[47,49],"note":"made up"})");
    const auto one = run({"show", "shared.banks", path("m.json")});
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_THAT(one.out, StartsWith("shared.banks = 48\n"));
    for (const char* evidence : {"counted: twice", "0.9", "47 to 49", "made up"})
        EXPECT_THAT(one.out, HasSubstr(evidence));
    const auto document = json::parse(run({"show", "shared.banks", path("m.json"), "--json"}).out);
    EXPECT_EQ(document.at("schema"), "gputomo-show-1");
    ASSERT_EQ(document.at("values").size(), 1);
    EXPECT_EQ(document.at("values")[0].at("path"), "shared.banks");
    EXPECT_EQ(document.at("values")[0].at("value"), 48);
    EXPECT_EQ(document.at("values")[0].at("confidence"), 0.9);
}

TEST_F(Commands, ShowListsAllValuesOfAPartOrAPattern) {
    for (const char* asked : {"caches.l2", "caches.l2.*", "*.l2.*"}) {
        const auto values = json::parse(run({"show", asked, "sim:h200", "--json"}).out).at("values");
        EXPECT_GT(values.size(), 8) << asked;
        for (const auto& value : values) EXPECT_THAT(value.at("path").get<std::string>(), HasSubstr(".l2.")) << asked;
        EXPECT_EQ(lines(run({"show", asked, "sim:h200"}).out).size(), values.size());
    }
    for (const char* asked : {"operations[fma.rn.f32].latency", "operations.fma.rn.f32.latency"})
        EXPECT_THAT(run({"show", asked, "sim:h200"}).out, HasSubstr(" = 4 cycles")) << asked;
    EXPECT_GT(lines(run({"show", "operations", "sim:h200"}).out).size(), 50U);
}

TEST_F(Commands, ShowSaysWhichValuesThereAre) {
    const auto section = run({"show", "cashes.l2.latency", "sim:h200"});
    EXPECT_EQ(section.code, 2);
    EXPECT_THAT(section.err, AllOf(HasSubstr("cashes.l2.latency"), HasSubstr("expected one of"), HasSubstr("caches")));
    const auto key = run({"show", "caches.l9.latency", "sim:h200"});
    EXPECT_EQ(key.code, 2);
    EXPECT_THAT(key.err, AllOf(HasSubstr("after 'caches'"), HasSubstr("l2")));
    const auto leaf = run({"show", "caches.l2.lateness", "sim:h200"});
    EXPECT_THAT(leaf.err, AllOf(HasSubstr("after 'caches.l2'"), HasSubstr("latency")));
    EXPECT_EQ(run({"show", "caches.l2.latency", path("missing.json")}).code, 2);
    EXPECT_EQ(run({"show", "", "sim:h200"}).code, 2);
}

TEST_F(Commands, ExportPrintsTheChosenFormat) {
    write_machine("m.json", R"("banks":{"value":48,"unit":"count","source":"made up"})");
    const auto accel = run({"export", "--to", "accel-sim", path("m.json")});
    EXPECT_EQ(accel.code, 0);
    EXPECT_THAT(accel.out, HasSubstr("# cited: shared.banks = 48: made up\n-gpgpu_shmem_num_banks 48\n"));
    EXPECT_EQ(
        json::parse(run({"export", "--to", "flat", path("m.json")}).out).at("leaves").at("shared.banks").at("value"),
        48);
    EXPECT_EQ(lines(run({"export", "--to", "csv", path("m.json")}).out).back(),
              "shared.banks,known,48,count,,,,made up");
}

TEST_F(Commands, ExportRefusesAnUnknownFormat) {
    write_machine("m.json", "");
    EXPECT_EQ(run({"export", "--to", "gem5", path("m.json")}).code, 2);
    EXPECT_EQ(run({"export", "--to", "csv", path("missing.json")}).code, 2);
}

TEST_F(Commands, HistoryReportsTheOutlierOfAFleet) {
    const auto keep = [&](int banks, const std::string& specimen) {
        write_machine("m.json",
                      R"("banks":{"value":)" + std::to_string(banks) + R"(,"unit":"count","source":"made up"})");
        return run({"history", "--db", path("h.sqlite"), "--add", path("m.json"), "--specimen", specimen}).code;
    };
    for (const char* specimen : {"a", "b", "c"}) EXPECT_EQ(keep(32, specimen), 0);
    EXPECT_EQ(run({"history", "--db", path("h.sqlite"), "--outliers"}).code, 0);
    EXPECT_EQ(keep(31, "d"), 0);
    const auto ran = run({"history", "--db", path("h.sqlite"), "--outliers", "--json"});
    EXPECT_EQ(ran.code, 1);
    const auto outliers = json::parse(ran.out).at("outliers");
    ASSERT_EQ(outliers.size(), 1);
    EXPECT_EQ(outliers.at(0).at("specimen"), "d");
    EXPECT_EQ(outliers.at(0).at("path"), "shared.banks");
    EXPECT_EQ(lines(run({"history", "--db", path("h.sqlite")}).out).size(), 4);
    EXPECT_THAT(run({"history", "--db", path("h.sqlite"), "--leaf", "shared.banks"}).out, HasSubstr(" d"));
}

TEST_F(Commands, HistoryRefusesAFileThatIsNoHistory) {
    EXPECT_EQ(run({"history", "--db", path("missing.sqlite")}).code, 2);
    write("text", std::string(2000, 'x'));
    EXPECT_EQ(run({"history", "--db", path("text")}).code, 2);
    EXPECT_EQ(run({"history", "--db", path("h.sqlite"), "--add", path("m.json")}).code, 2);
}

TEST_F(Commands, ScanAddsItsDescriptionToAHistory) {
    const auto scan = [&] {
        return run({"scan", "--device", "sim:gtx280", "--only", "attributes", "--quiet", "--out", path("out"),
                    "--history", path("h.sqlite")})
            .code;
    };
    EXPECT_EQ(scan(), 0);
    const auto scans = json::parse(run({"history", "--db", path("h.sqlite"), "--json"}).out).at("scans");
    ASSERT_EQ(scans.size(), 1);
    EXPECT_EQ(scans.at(0).at("gpu"), "GeForce GTX 280");
    EXPECT_THAT(scans.at(0).at("specimen").get<std::string>(), HasSubstr("sim:gtx280"));
}

TEST_F(Commands, ListsAreLinesOfTextByDefault) {
    const auto ran = run({"list", "experiments"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(lines(ran.out), Each(MatchesRegex("[a-z0-9_]+ +[^ ].+")));
    EXPECT_THAT(run({"list", "devices"}).out, HasSubstr("sim:gtx280               GeForce GTX 280 (simulated)\n"));
    EXPECT_THAT(run({"list", "models"}).out,
                StartsWith("volkov-basic             latency bound and throughput bound, whichever is tighter\n"));
}

TEST_F(Commands, DiffExitsWithOneWhereDescriptionsDiffer) {
    const std::string banks = R"("banks":{"value":16,"unit":"count","source":"s"})";
    write_machine("a.json", banks + R"(,"latency":{"value":38,"unit":"cycles","source":"s"})");
    write_machine("b.json", banks + R"(,"latency":{"value":39,"unit":"cycles","source":"s"})");
    write_machine("c.json", banks);
    const auto same = run({"diff", "a.json", "a.json"});
    EXPECT_EQ(same.code, 0);
    EXPECT_EQ(same.out, "2 equal, 0 differ, 0 undecided, 0 only in the first, 0 only in the second\n");
    const auto different = run({"diff", "a.json", "b.json"});
    EXPECT_EQ(different.code, 1);
    EXPECT_THAT(different.out, MatchesRegex("differs +shared.latency +38 . 39 cycles\n1 equal, 1 differ.*"));
    EXPECT_EQ(different.err, "");
    EXPECT_EQ(run({"diff", "a.json", "b.json", "--tolerance", "0.03"}).code, 0);
    EXPECT_EQ(run({"diff", "a.json", "b.json", "--tolerance", "0.02"}).code, 1);
    for (const auto& [first, second, side] :
         {std::array<std::string, 3>{"a.json", "c.json", "only first"}, {"c.json", "a.json", "only second"}}) {
        const auto lax = run({"diff", first, second});
        EXPECT_EQ(lax.code, 0);
        EXPECT_THAT(lax.out, HasSubstr(side + " shared.latency\n"));
        EXPECT_EQ(run({"diff", first, second, "--strict"}).code, 1);
    }
    EXPECT_EQ(run({"diff", "a.json", "a.json", "--strict"}).code, 0);
}

TEST_F(Commands, ScanPrintsTheTableAndWritesThreeFiles) {
    const auto ran =
        run({"scan", "--device", "sim:gtx280", "--only", "attributes,clock", "--quick", "--out", "new/folder"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, AllOf(StartsWith("GeForce GTX 280 (sim:gtx280)\n"), HasSubstr("clock.read_cost"),
                               HasSubstr("28 cycles"), Not(HasSubstr("written"))));
    EXPECT_THAT(ran.err, AllOf(HasSubstr("  0% attributes"), HasSubstr(" 50% clock"),
                               HasSubstr("written: new/folder/machine.json"), Not(HasSubstr("28 cycles")),
                               Not(HasSubstr("\033"))));
    EXPECT_EQ(run({"diff", "new/folder/machine.json", source("machines/gtx280.json")}).code, 0);
    const auto scan = json::parse(read("new/folder/scan.json"));
    EXPECT_EQ(scan.at("schema"), "gputomo-scan-1");
    EXPECT_EQ(scan.at("device").at("id"), "sim:gtx280");
    EXPECT_EQ(scan.at("experiments").size(), 2U);
    for (const auto& experiment : scan.at("experiments")) EXPECT_EQ(experiment.at("status"), "done");
    EXPECT_THAT(read("new/folder/report.html"), HasSubstr("clock.read_cost"));
}

TEST_F(Commands, QuietScanShowsNoProgressAndAutoFallsBackToTheSimulatedGpu) {
    const auto ran = run({"scan", "--only", "attributes", "--quiet"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, StartsWith("GeForce GTX 280 (sim:gtx280)\n"));
    EXPECT_THAT(ran.err, Not(HasSubstr("%")));
    EXPECT_TRUE(exists("scan/machine.json"));
}

TEST_F(Commands, ScanReadsADescriptionFromAFile) {
    const auto ran =
        run({"scan", "--device", "sim:" + source("tests/data/machines/fermi_like.json"), "--only", "attributes"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("Fermi-like test GPU"));
}

TEST_F(Commands, EqualSeedsGiveEqualScans) {
    for (const char* out : {"one", "two"})
        EXPECT_EQ(
            run({"scan", "--device", "sim:gtx280", "--only", "clock", "--noise", "2", "--seed", "5", "--out", out})
                .code,
            0);
    const auto without_origin = [](const std::string& text) {
        auto machine = json::parse(text);
        machine.erase("origin");
        return machine;
    };
    EXPECT_EQ(without_origin(read("one/machine.json")), without_origin(read("two/machine.json")));
}

TEST_F(Commands, RunWritesTheRawSamples) {
    const auto ran = run({"run", "shared_latency", "--device", "sim:gtx280", "--csv", "samples.csv"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("shared.latency"), Not(HasSubstr("clock.read_cost")), Not(HasSubstr("%  "))));
    EXPECT_THAT(ran.err, HasSubstr("shared_latency"));
    const auto rows = lines(read("samples.csv"));
    ASSERT_GE(rows.size(), 3U);
    EXPECT_THAT(rows[0], StartsWith("# "));
    EXPECT_THAT(rows[1], HasSubstr("latency [cycles]"));
    const auto commas = std::count(rows[1].begin(), rows[1].end(), ',');
    for (std::size_t i = 2; i < rows.size() && rows[i][0] != '#'; ++i) {
        EXPECT_EQ(std::count(rows[i].begin(), rows[i].end(), ','), commas) << rows[i];
        EXPECT_EQ(rows[i].find_first_not_of("0123456789.,e+-"), std::string::npos) << rows[i];
    }
}

TEST_F(Commands, ValidateCountsWhatIsRecovered) {
    const auto ran = run({"validate", "--machines", "1", "--seed", "2", "--json"});
    const auto result = json::parse(ran.out);
    EXPECT_EQ(result.at("schema"), "gputomo-validate-1");
    EXPECT_EQ(result.at("machines"), 1);
    double wrong = 0, decided = 0;
    for (const auto& [parameter, tally] : result.at("parameters").items()) {
        EXPECT_EQ(tally.at("total"), tally.at("exact").get<int>() + tally.at("undecided").get<int>() +
                                         tally.at("wrong").get<int>() + tally.at("missing").get<int>())
            << parameter;
        wrong += tally.at("wrong").get<double>();
        decided += tally.at("wrong").get<double>() + tally.at("exact").get<double>();
    }
    EXPECT_GE(result.at("parameters").at("clock.read_cost").at("exact"), 1);
    EXPECT_GT(decided, 20);
    EXPECT_THAT(ran.err, HasSubstr("100% 1 of 1 machines scanned"));
    EXPECT_EQ(ran.code, wrong <= 0.01 * decided ? 0 : 1) << ran.err;
}

TEST_F(Commands, SimulateRunsAKernelAndWritesItsBuffers) {
    const std::array<float, 4> a{1, 2, 3, 4}, b{10, 20, 30, 40};
    const auto raw = [](const auto& values) {
        return std::string(reinterpret_cast<const char*>(values.data()), sizeof values);
    };
    write("a", raw(a));
    write("b", raw(b));
    const auto ran =
        run({"simulate", source("tests/data/ptx/vector_add.ptx"), "--kernel", "vector_add", "--grid", "2", "--block",
             "32", "--arg", "buf:16:a", "--arg", "buf:16:b", "--arg", "buf:16", "--arg", "u32:4", "--dump", "2:sum"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, AllOf(HasSubstr("vector_add on GeForce GTX 280"), HasSubstr(" cycles, "),
                               HasSubstr("2 of 2 blocks, from PTX"), HasSubstr("constant_l2   1 hits, 1 misses")));
    EXPECT_EQ(read("sum"), raw(std::array<float, 4>{11, 22, 33, 44}));
}

TEST_F(Commands, SimulateRunsMachineCode) {
    const std::array<float, 4> a{1, 2, 3, 4}, b{10, 20, 30, 40};
    const auto raw = [](const auto& values) {
        return std::string(reinterpret_cast<const char*>(values.data()), sizeof values);
    };
    write("a", raw(a));
    write("b", raw(b));
    const auto ran = run({"simulate", source("tests/machine_code/fixtures/vector_add.cubin"), "--kernel", "vector_add",
                          "--device", "sim:h200", "--grid", "1", "--block", "4", "--arg", "buf:16:a", "--arg",
                          "buf:16:b", "--arg", "buf:16", "--dump", "2:sum", "--json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto answer = json::parse(ran.out);
    EXPECT_EQ(answer.at("schema"), "gputomo-answer-1");
    EXPECT_EQ(answer.at("method"), "simulate");
    EXPECT_EQ(answer.at("instructions"), 17);
    EXPECT_EQ(answer.at("sampled").at("code"), "sass");
    EXPECT_GT(answer.at("cycles"), answer.at("launch_cycles"));
    EXPECT_TRUE(answer.at("limiter").is_null()) << "what a simulation does not find is null, not zero";
    EXPECT_THAT(answer.at("assumptions").dump(), HasSubstr("S2R, executed 1 times: "));
    EXPECT_EQ(read("sum"), raw(std::array<float, 4>{11, 22, 33, 44}));
}

TEST_F(Commands, OutputThatCannotBeWrittenIsAFailure) {
    const auto samples = run({"run", "shared_latency", "--device", "sim:gtx280", "--csv", "/dev/full"});
    EXPECT_EQ(samples.code, 1);
    EXPECT_THAT(samples.err, HasSubstr("/dev/full: cannot be written: No space left on device"));
    const auto list = run({"list", "devices"}, {.out = "/dev/full"});
    EXPECT_EQ(list.code, 1);
    EXPECT_THAT(list.err, HasSubstr("standard output"));
}

class Interrupts : public testing::ProgramTest {};

TEST_F(Interrupts, AnInterruptedScanSavesWhatItMeasured) {
    const auto ran = run({"scan", "--device", "sim:gtx280", "--only", "clock,tlb,launch", "--out", "out"},
                         {.interrupt_at = "% tlb"});
    EXPECT_EQ(ran.code, 130);
    EXPECT_THAT(ran.err, HasSubstr("gputomo: interrupted; what was measured is saved"));
    EXPECT_THAT(ran.out, HasSubstr("clock.read_cost"));
    EXPECT_THAT(ran.err, HasSubstr("written: out/partial/machine.json"));
    EXPECT_FALSE(exists("out/scan.json"));
    const auto scan = json::parse(read("out/partial/scan.json"));
    std::string statuses;
    for (const auto& experiment : scan.at("experiments"))
        statuses += experiment.at("id").get<std::string>() + " " + experiment.at("status").get<std::string>() + "\n";
    EXPECT_THAT(statuses, AllOf(StartsWith("clock done\n"), HasSubstr("tlb interrupted\nlaunch skipped\n")));
    EXPECT_THAT(run({"diff", "out/partial/machine.json", source("machines/gtx280.json")}).out, HasSubstr(", 0 differ"));
    EXPECT_THAT(read("out/partial/report.html"), AllOf(HasSubstr("clock.read_cost"), HasSubstr("tlb interrupted")));
}

TEST_F(Interrupts, AnInterruptedRunSavesTheSamplesOfFinishedExperiments) {
    const auto ran = run({"run", "tlb", "--device", "sim:gtx280", "--csv", "samples.csv"}, {.interrupt_at = "% tlb"});
    EXPECT_EQ(ran.code, 130);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("gputomo: interrupted; what was measured is saved"));
    EXPECT_FALSE(exists("samples.csv"));
    EXPECT_THAT(ran.err, HasSubstr("are in partial-samples.csv"));
    EXPECT_THAT(read("partial-samples.csv"), AllOf(HasSubstr("caches/"), Not(HasSubstr("tlb/"))));
}

}  // namespace
}  // namespace gputomo::cli
