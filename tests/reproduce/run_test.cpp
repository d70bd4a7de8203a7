// Tests of the way from a paper to results: the experiments that run, another GPU, JSON, table and page.
#include "fakes.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::reproduce {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::machine_of;
using ::testing::Not;

Paper wong() {
    return paper_from_json(testing::content(std::string(GPUTOMO_SOURCE_DIR) + "/papers/wong2010.json"), "wong2010");
}

/// Opens the described GPU after `change` changed its description.
Options options(std::vector<std::string> only, const std::function<void(machine::Machine&)>& change = {}) {
    Options options{.only = std::move(only)};
    options.open = [change](const std::string& name, const PaperGpu& gpu) -> std::unique_ptr<device::Device> {
        auto machine = machine_of(gpu);
        if (change) change(machine);
        return sim::make_device(machine, {.id = "sim:" + name});
    };
    return options;
}

const std::vector<std::string> kQuick{"wong2010.sec4f.latency", "wong2010.sec4a", "wong2010.table1.mem_channels"};

TEST(Reproduction, RunsTheExperimentsThatItsRowsNeed) {
    const auto paper = wong();
    std::vector<const Entry*> entries;
    for (const auto& entry : paper.entries)
        if (entry.id == "wong2010.sec4f.latency" || entry.id == "wong2010.sec4a.clock_scope" ||
            entry.id == "wong2010.fig6.linear")
            entries.push_back(&entry);
    ASSERT_EQ(entries.size(), 3U);
    const auto ids = experiments_for(entries, "GTX280 (GT200)");
    EXPECT_THAT(ids, AllOf(Contains("clock"), Contains("shared_latency"), Contains("arithmetic_throughput"),
                           Not(Contains("tlb")), Not(Contains("caches"))));
}

TEST(Reproduction, LooksForACacheOnItsOwnPathOnly) {
    const auto ids_for = [](const std::string& expression) {
        const auto paper =
            paper_from_json(testing::paper_text("\"value\":1,\"reproduce\":\"" + expression + "\""), "test");
        return experiments_for({&paper.entries.front()}, "G");
    };
    EXPECT_THAT(ids_for("caches.l1.capacity"), ElementsAre("caches"));
    EXPECT_THAT(ids_for("caches.texture_l1.capacity"), ElementsAre("texture_caches"));
    EXPECT_THAT(ids_for("tlbs.global_l1.reach"), ElementsAre("tlb"));
}

TEST(Reproduction, AgreesWithTheGpuOfThePaper) {
    const auto paper = wong();
    const auto result = run(paper, options(kQuick));
    EXPECT_EQ(result.rows.size(), 4U);
    EXPECT_TRUE(result.all_agree()) << results_table(result);
    EXPECT_EQ(result.not_reproducible.size(), 2U);
    EXPECT_THAT(result.warnings, ElementsAre());
}

TEST(Reproduction, DiffersOnAnotherGpu) {
    const auto paper = wong();
    const auto result = run(paper, options(kQuick, [](machine::Machine& machine) {
                                machine.shared.latency.set(41);
                                machine.clock.scope.set("sm");
                            }));
    for (const auto& row : result.rows) {
        const bool changed = row.entry->id == "wong2010.sec4f.latency" || row.entry->id == "wong2010.sec4a.clock_scope";
        EXPECT_EQ(row.agrees, !changed) << row.entry->id << " " << row.reproduced;
    }
    EXPECT_FALSE(result.all_agree());
}

TEST(Reproduction, AccountsForEveryEntry) {
    for (const auto& paper : testing::shipped_papers()) {
        auto nothing = options({});
        nothing.progress = [](double, double, std::string_view) { throw Interrupted("at once"); };
        const auto result = run(paper, nothing);
        EXPECT_TRUE(result.interrupted);
        std::set<std::string> ids;
        for (const auto& row : result.rows) ids.insert(row.entry->id);
        for (const auto* entry : result.not_reproducible) EXPECT_TRUE(ids.insert(entry->id).second) << entry->id;
        EXPECT_EQ(ids.size(), paper.entries.size());
        // Some rows compare a model with an example whose numbers are all printed, and measure nothing.
        for (const auto& row : result.rows)
            EXPECT_TRUE(!row.agrees || row.entry->recipe->expression.asks_models()) << row.entry->id;
    }
}

TEST(Reproduction, RefusesAnUnknownId) {
    const auto paper = wong();
    try {
        (void)run(paper, options({"wong2010.table9"}));
        FAIL();
    } catch (const InputError& e) {
        EXPECT_THAT(e.what(), HasSubstr("--only wong2010.table9: no such entry of wong2010"));
    }
}

TEST(Reproduction, JsonHasThePromisedFields) {
    const auto paper = wong();
    const auto result = run(
        paper, options({"wong2010.sec4f.latency", "wong2010.table5.constant_l1.size", "wong2010.table1.mem_channels"}));
    const auto json = Json::parse(results_json(result));
    EXPECT_EQ(json.at("schema"), "gputomo-reproduction-1");
    const auto& row = json.at("results").at(0).at("id") == "wong2010.sec4f.latency" ? json.at("results").at(0)
                                                                                    : json.at("results").at(1);
    EXPECT_EQ(row.at("id"), "wong2010.sec4f.latency");
    EXPECT_EQ(row.at("gpu"), "GTX280 (GT200)");
    EXPECT_EQ(row.at("published"), 38);
    EXPECT_EQ(row.at("reproduced"), 38);
    EXPECT_EQ(row.at("unit"), "cycle");
    EXPECT_EQ(row.at("agrees"), true);
    EXPECT_EQ(json.at("not_reproducible").at(0).at("id"), "wong2010.table1.mem_channels");
    const auto& left = json.at("not_reproducible").at(0);
    for (const auto* member : {"gpu", "where", "quantity", "reason"})
        EXPECT_FALSE(left.at(member).get<std::string>().empty()) << member;
    EXPECT_EQ(left.at("published"), 8);
    EXPECT_THAT(results_table(result),
                HasSubstr(left.at("id").get<std::string>() + ": " + left.at("quantity").get<std::string>() + ": 8"));
    EXPECT_THAT(results_table(result), HasSubstr(left.at("reason").get<std::string>()));
}

TEST(Reproduction, PageHasEachRowAndReason) {
    const auto paper = wong();
    const auto result = run(paper, options(kQuick));
    const auto page = results_page(result);
    for (const auto& row : result.rows) EXPECT_THAT(page, HasSubstr("id='" + row.entry->id + "'"));
    EXPECT_THAT(page,
                AllOf(HasSubstr("Demystifying GPU Microarchitecture"), HasSubstr(">Section IV-F: 1 of 1 agree</h2>"),
                      HasSubstr("href='#from-Section~20IV-F'"), HasSubstr("id='from-Section~20IV-F'"),
                      HasSubstr("channels cannot be distinguished from outside"), Not(HasSubstr("&#10007; differs"))));
}

TEST(Reproduction, EachDifferenceHasAnExplanationOrANote) {
    const auto paper = wong();
    auto result = run(paper, options({"wong2010.sec4f.latency"}));
    EXPECT_THAT(results_page(result), Not(HasSubstr("No explanation is recorded.")));
    result.rows[0].agrees = false;
    const auto& entry = *result.rows[0].entry;
    const bool explained = !entry.note.empty() || !entry.recipe->remark.empty();
    EXPECT_EQ(results_page(result).find("No explanation is recorded.") == std::string::npos, explained);
    EXPECT_THAT(results_page(result), AllOf(HasSubstr("&#10007; differs"), HasSubstr(": 0 of 1 agree</h2>")));
}

}  // namespace
}  // namespace gputomo::reproduce
