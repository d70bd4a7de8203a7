// Tests of `gputomo report`, and of what a scan passes to its report.
#include "cli/report_page.hpp"
#include "experiments/experiment.hpp"
#include "program.hpp"
#include "report/plot/vega.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gputomo::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Report : public testing::ProgramTest {};

TEST_F(Report, APageHasMethodsFindingsAndChecksOfAScan) {
    scan::Scan scan;
    scan.device_name = "Odd";
    scan.device_id = "sim:odd";
    scan::Record done{.id = "caches", .status = scan::Status::done};
    done.outcome.estimates.push_back({.path = "caches.l1.ways", .value = std::int64_t{3}});
    done.outcome.code_checks.push_back({"chase", results::CodeResult::failed, "8 x LDG", "7", "LDG"});
    scan.records = {done, {.id = "tlb", .status = scan::Status::skipped, .error = "needs caches"}};
    const auto page = page_of(scan);
    EXPECT_EQ(page.device, "Odd (sim:odd)");
    ASSERT_EQ(page.methods.size(), 1U) << "what did not run measured nothing";
    EXPECT_THAT(page.methods[0].explanation, HasSubstr("pointer chain in random order"));
    EXPECT_THAT(page.methods[0].source, HasSubstr("Mei 2014"));
    EXPECT_EQ(page.experiment_of.at("caches.l1.ways"), "caches");
    ASSERT_EQ(page.code_checks.size(), 1U);
    EXPECT_EQ(page.code_checks[0].result, "failed");
    EXPECT_THAT(page.warnings, ::testing::ElementsAre("tlb skipped: needs caches"));
}

TEST_F(Report, ADescriptionWithoutAScanHasNoEvidence) {
    write("m.json",
          R"({"schema":"gputomo-machine-1","shared":{"latency":{"value":31,"unit":"cycles","source":"made up"}}})");
    const auto result = run({"report", path("m.json"), "--out", path("r.html")});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(read("r.html"),
                AllOf(HasSubstr("<svg class=gpu"), HasSubstr("31 cycles"), Not(HasSubstr("vegaEmbed"))));
}

TEST_F(Report, SeveralMachinesMakeAComparison) {
    write("m.json",
          R"({"schema":"gputomo-machine-1","shared":{"latency":{"value":31,"unit":"cycles","source":"made up"}}})");
    const auto result =
        run({"report", "sim:gtx280", path("m.json"), source("machines/h200.json"), "--out", path("r.html")});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(read("r.html"), AllOf(HasSubstr("<th>GeForce GTX 280<th>m<th>NVIDIA H200"), HasSubstr("31 cycles"),
                                      HasSubstr("38 cycles"), HasSubstr("id=trends")));
    EXPECT_EQ(run({"report", "sim:none", "--out", path("r.html")}).code, 2);
    const std::vector<std::string> many(11, "sim:gtx280");
    std::vector<std::string> arguments{"report"};
    arguments.insert(arguments.end(), many.begin(), many.end());
    EXPECT_EQ(run(arguments).code, 2) << "ten at most";
}

TEST_F(Report, ASurfaceIsDrawnWithModelsOverIt) {
    const auto result = run({"report", source("recordings/h200-scan-1.json.gz"), "--surface",
                             source("recordings/h200-surface-sfu.json.gz") + "," +
                                 source("recordings/h200-surface-shared_conflict.json.gz"),
                             "--out", path("r.html")});
    EXPECT_EQ(result.code, 0) << result.err;
    const auto page = read("r.html");
    EXPECT_LT(page.size(), 8U << 20);
    EXPECT_THAT(page, AllOf(HasSubstr("id='trace-latency_map~2fmap'"), HasSubstr("(models/sfu_needed)"),
                            HasSubstr("(models/sfu_alpha_512)")));
    EXPECT_EQ(page.find("data-model='gputomo-replay' checked") != std::string::npos, !report::vega_scripts().empty());
    EXPECT_THAT(page, Not(HasSubstr("models/shared_conflict"))) << "that surface has no mixes";
}

TEST_F(Report, ASurfaceOfAnotherGpuIsRefused) {
    const auto surface = source("recordings/h200-surface-sfu.json.gz");
    EXPECT_THAT(run({"report", "sim:gtx980", "--surface", surface, "--out", path("r.html")}).err,
                HasSubstr("was measured on NVIDIA H200; expected a surface of GeForce GTX 980"));
    EXPECT_EQ(run({"report", "sim:gtx980", "--surface", path("none.json"), "--out", path("r.html")}).code, 2);
    write("bad.json.gz", "\x1f\x8b not gzip");
    EXPECT_EQ(run({"report", path("bad.json.gz"), "--out", path("r.html")}).code, 2);
}

TEST_F(Report, AComparisonDrawsTheCusp) {
    const auto result = run({"report", "sim:gtx980", "sim:h200", "--surface",
                             source("recordings/h200-surface-global.json.gz"), "--out", path("r.html")});
    EXPECT_EQ(result.code, 0) << result.err;
    const auto page = read("r.html");
    EXPECT_THAT(page, HasSubstr("(trends/cusp)"));
    if (report::vega_scripts().empty()) GTEST_SKIP() << "without scripts a plot has no data";
    EXPECT_THAT(page, AllOf(HasSubstr(R"("models":["GeForce GTX 980","NVIDIA H200"])"),
                            HasSubstr(R"("name":"NVIDIA H200, measured")")));
}

TEST_F(Report, TheGenerationBeforeHasAnotherArchitecture) {
    const auto before = [](std::int64_t major, std::int64_t minor) {
        machine::Machine m;
        m.identity.compute_capability_major.set(major);
        m.identity.compute_capability_minor.set(minor);
        const auto earlier = generation_before(m);
        return earlier ? earlier->name : "";
    };
    EXPECT_EQ(before(1, 0), "");
    EXPECT_EQ(before(1, 3), "GeForce 8800 GTX");
    EXPECT_EQ(before(3, 5), "GeForce GTX 560 Ti") << "not the GTX 680, a Kepler too";
    EXPECT_EQ(before(6, 0), "GeForce GTX 980");
    EXPECT_EQ(before(9, 0), "") << "most values of the A100 are an H200's";
    EXPECT_EQ(generation_before({}), std::nullopt);
}

TEST_F(Report, BadInputIsNamed) {
    EXPECT_EQ(run({"report", path("none.json"), "--out", path("r.html")}).code, 2);
    write("bad.json", R"({"schema":7})");
    const auto bad = run({"report", path("bad.json"), "--out", path("r.html")});
    EXPECT_EQ(bad.code, 2);
    EXPECT_THAT(bad.err, HasSubstr("bad.json"));
}

}  // namespace
}  // namespace gputomo::cli
