// Runs `gputomo reproduce` and `gputomo list papers` as a user does.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace gputomo::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Reproduce : public testing::ProgramTest {};

TEST_F(Reproduce, PapersAreListed) {
    const auto ran = run({"list", "papers", "--json"});
    EXPECT_EQ(ran.code, 0);
    const auto list = json::parse(ran.out);
    EXPECT_EQ(list.at("schema"), "gputomo-list-1");
    bool wong = false;
    for (const auto& paper : list.at("papers")) {
        EXPECT_GT(paper.at("reproducible"), 0);
        EXPECT_LE(paper.at("reproducible"), paper.at("results"));
        wong = wong || (paper.at("id") == "wong2010" && paper.at("results") == 319);
    }
    EXPECT_TRUE(wong);
    EXPECT_THAT(run({"list", "papers"}).out, HasSubstr("wong2010                 Demystifying GPU Microarchitecture"));
}

TEST_F(Reproduce, PutsPublishedBesideReproduced) {
    const auto ran =
        run({"reproduce", "wong2010", "--only",
             "wong2010.sec4f.latency,wong2010.sec4a.clock_latency,wong2010.table1.mem_channels", "--json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto result = json::parse(ran.out);
    EXPECT_EQ(result.at("schema"), "gputomo-reproduction-1");
    EXPECT_EQ(result.at("results").size(), 2U);
    for (const auto& row : result.at("results")) {
        EXPECT_EQ(row.at("published"), row.at("reproduced"));
        EXPECT_EQ(row.at("agrees"), true);
        EXPECT_EQ(row.at("unit"), "cycle");
    }
    EXPECT_EQ(result.at("not_reproducible").at(0).at("id"), "wong2010.table1.mem_channels");
    EXPECT_THAT(ran.err, HasSubstr("gtx280, "));
}

TEST_F(Reproduce, WritesAPageAndItsResults) {
    const auto ran = run({"reproduce", "wong2010", "--only", "wong2010.sec4f.latency", "--out", "new/folder"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("written: new/folder/wong2010.json new/folder/wong2010.html new/folder/index.html"));
    EXPECT_EQ(json::parse(read("new/folder/wong2010.json")).at("paper"), "wong2010");
    EXPECT_THAT(read("new/folder/wong2010.html"), HasSubstr("id='wong2010.sec4f.latency'"));
}

TEST_F(Reproduce, TheIndexHasEachPaperOfTheFolderAndWhatDiffers) {
    EXPECT_EQ(run({"reproduce", "wong2010", "--only", "wong2010.sec4f.latency", "--quiet", "--out", "pages"}).code, 0);
    const auto missing = run(
        {"reproduce", "volkov2016", "--only", "volkov2016.sec3_10.vabs.maxwell.positive", "--quiet", "--out", "pages"});
    EXPECT_EQ(missing.code, 1) << "a value was not measured";
    EXPECT_THAT(missing.out,
                AllOf(HasSubstr("missing volkov2016.sec3_10.vabs.maxwell.positive"),
                      HasSubstr("the curve does not reach 190"), HasSubstr("0 of 1 published values agree")));
    write("pages/lashgar2015.json", R"({"schema":"something else"})");
    EXPECT_EQ(run({"reproduce", "wong2010", "--only", "wong2010.sec4f.latency", "--quiet", "--out", "pages"}).code, 0);
    const auto index = read("pages/index.html");
    EXPECT_THAT(index, AllOf(HasSubstr("<a href='wong2010.html'>"), HasSubstr("<td class=c>1 of 1"),
                             HasSubstr("<a href='volkov2016.html'>"), HasSubstr("<td class=c>0 of 1"),
                             HasSubstr("the curve does not reach 190")));
    EXPECT_THAT(index, AllOf(HasSubstr("gputomo reproduce lashgar2015 --out ."),
                             HasSubstr("gputomo reproduce mei2014 --out .")));
}

TEST_F(Reproduce, SomeValuesDoNotReplaceAFileThatHasMore) {
    const std::string one = R"({"schema":"gputomo-reproduction-1","paper":"wong2010","results":[)"
                            R"_({"id":"wong2010.sec4f.size","gpu":"GTX280 (GT200)","reproduced":)_";
    const auto some = [&] {
        return run({"reproduce", "wong2010", "--only", "wong2010.sec4f.latency", "--out", "pages"});
    };
    write("pages/wong2010.json", one + "16384}]}");
    const auto beside = some();
    EXPECT_EQ(beside.code, 0);
    EXPECT_THAT(beside.err, AllOf(HasSubstr("note: pages/wong2010.json has values that --only leaves out"),
                                  HasSubstr("written: pages/partial/wong2010.json")));
    EXPECT_EQ(read("pages/wong2010.json"), one + "16384}]}");
    EXPECT_EQ(json::parse(read("pages/partial/wong2010.json")).at("results").at(0).at("id"), "wong2010.sec4f.latency");
    write("pages/wong2010.json", one + "null}]}");
    EXPECT_THAT(some().err, HasSubstr("written: pages/wong2010.json")) << "a value that was not measured is no loss";
}

TEST_F(Reproduce, RefusesUnknownPapersAndIds) {
    const auto paper = run({"reproduce", "nobody1999"});
    EXPECT_EQ(paper.code, 2);
    EXPECT_THAT(paper.err, AllOf(HasSubstr("no paper 'nobody1999'; expected one of"), HasSubstr("wong2010")));
    const auto id = run({"reproduce", "wong2010", "--only", "wong2010.table9"});
    EXPECT_EQ(id.code, 2);
    EXPECT_THAT(id.err, HasSubstr("--only wong2010.table9: no such entry of wong2010"));
}

}  // namespace
}  // namespace gputomo::cli
