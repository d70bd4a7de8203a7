#include "report/html.hpp"

#include "machine/paths.hpp"
#include "machines.hpp"
#include "report/parts/text.hpp"
#include "report/plot/vega.hpp"
#include "report/sections.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace gputomo::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Page page() {
    Page page{.device = "R&D <GPU> (sim:x)", .warnings = {"clock: 1 < 2 && \"so\""}};
    page.traces.push_back({"a/levels",
                           "a",
                           {{"size", "bytes", {1, 2, 4}}, {"latency", "cycles", {10, 20, 40}}},
                           {"Latency <of> a & b", "size", {"latency"}, true, false}});
    page.traces.push_back({"a/raw<1>", "a", {{"size", "bytes", {1}}}, {}});
    page.traces.push_back({"a/none",
                           "a",
                           {{"size", "bytes", {}}, {"latency", "", {}}},
                           {"Nothing to see", "size", {"latency"}, false, false}});
    page.traces.push_back({"b/banks",
                           "b",
                           {{"stride", "", {1, 2}}, {"latency", "cycles", {3, 4}}},
                           {"Banks", "stride", {"latency"}, false, false}});
    page.methods = {{"b", "shared <memory>", "Doe & Roe 2010", "A warp reads with strides & waits."}};
    page.experiment_of = {{"shared.latency", "b"}, {"shared.banks", "b"}};
    page.code_checks = {{"b", "strides<1>", "failed", "8 x LDS", "7", "LDS R1, [R2] <odd>"},
                        {"b", "chain", "passed", "", "", ""}};
    return page;
}

/// Elements whose closing tag HTML lets one omit.
bool may_stay_open(const std::string& name) {
    static const std::set<std::string> kOpen{"meta", "th", "tr", "td", "input"};
    return kOpen.contains(name);
}

/// The texts between each `start` and the first of `ends` behind it.
std::vector<std::string> all_after(const std::string& text, const std::string& start, const char* ends) {
    std::vector<std::string> all;
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
        const auto from = at + start.size();
        all.push_back(text.substr(from, text.find_first_of(ends, from) - from));
    }
    return all;
}

/// The page without its scripts.
std::string without_scripts(std::string page) {
    for (auto at = page.find("<script"); at != std::string::npos; at = page.find("<script", at))
        page.erase(at, page.find("</script>", at) + 9 - at);
    return page;
}

/// Checks that every other element is closed, in the right order.
void expect_balanced(const std::string& page) {
    std::vector<std::string> open;
    for (const auto& whole : all_after(without_scripts(page), "<", ">")) {
        const auto tag = whole.substr(0, whole.find(' '));
        if (tag.starts_with('!') || may_stay_open(tag) || whole.ends_with('/')) continue;
        if (!tag.starts_with('/')) {
            open.push_back(tag);
        } else if (!may_stay_open(tag.substr(1))) {
            ASSERT_FALSE(open.empty()) << "<" << tag << "> closes nothing";
            EXPECT_EQ("/" + open.back(), tag);
            open.pop_back();
        }
    }
    EXPECT_TRUE(open.empty()) << "<" << open.back() << "> stays open";
}

TEST(Html, IsOneSelfContainedPage) {
    const auto text = html(testing::described(), page());
    EXPECT_THAT(text, AllOf(StartsWith("<!doctype html>"), EndsWith("</html>\n")));
    expect_balanced(text);
    for (const char* outside : {"http:", "https:", "//", "src=", "@import", "url(", "<link", "<iframe"})
        EXPECT_THAT(without_scripts(text), Not(HasSubstr(outside)));
    EXPECT_THAT(text, Not(HasSubstr("<script src")));
}

TEST(Html, EveryLinkHasExactlyOneTarget) {
    const auto text = without_scripts(html(testing::described(), page()));
    std::multiset<std::string> ids;
    for (const char* start : {" id='", " id="})
        for (const auto& id : all_after(text, start, "' >"))
            if (!id.empty()) ids.insert(id);
    for (const auto& id : ids) EXPECT_EQ(ids.count(id), 1U) << id;
    const auto links = all_after(text, "href='#", "'");
    EXPECT_GT(links.size(), 10U);
    for (const auto& link : links) EXPECT_TRUE(ids.contains(link)) << link;
}

TEST(Html, HasEveryFinding) {
    const Facts facts(testing::described());
    const auto text = html(testing::described(), page());
    for (const auto& leaf : facts.all()) {
        EXPECT_THAT(text, HasSubstr("<tr id='" + anchor("leaf", leaf.path) + "' data-path='" + leaf.path + "'>"));
        EXPECT_THAT(text, HasSubstr("<td class=v>" + escaped(leaf_text(leaf)) + "</td>")) << leaf.path;
    }
    EXPECT_THAT(text, HasSubstr("<td class=v>38 cycles</td><td class=c>95%</td><td>37.5 to 38.5 cycles</td><td "
                                "class=m>chain, one warp. A &amp; b "
                                "<a href='#experiment-b'>method</a> <a href='#trace-b~2fbanks'>evidence</a></td>"));
    EXPECT_THAT(text, HasSubstr("<td class=v>4 or 8</td><td class=c>50%</td>"));
    EXPECT_THAT(text, HasSubstr("<b>38 cycles</b><span>shared memory latency</span>"));
    EXPECT_THAT(text, HasSubstr("<b>absent</b><span>L2 capacity</span>"));
    EXPECT_THAT(text, Not(HasSubstr("16 to 16"))) << "an interval of no width says nothing";
}

TEST(Html, EachSubsystemHasOneHeadingAndContentsNameIt) {
    const auto text = html(testing::described(), page());
    const auto ids = all_after(text, "<details class=part id=", ">");
    EXPECT_THAT(ids, ElementsAre("gpu", "arithmetic", "shared", "caches", "evidence", "code"));
    for (const auto& id : ids) EXPECT_THAT(text, HasSubstr("<a href='#" + id + "' title="));
}

TEST(Html, AnExperimentIsShownWhereItsFindingsAre) {
    const auto text = html(testing::described(), page());
    const auto shared = text.find("<details class=part id=shared>"),
               caches = text.find("<details class=part id=caches>"),
               other = text.find("<details class=part id=evidence>");
    for (const char* there : {"How it was measured: shared &lt;memory&gt;", "A warp reads with strides &amp; waits.",
                              "after Doe &amp; Roe 2010", "<figcaption>Banks (b/banks)</figcaption>"}) {
        EXPECT_GT(text.find(there), shared) << there;
        EXPECT_LT(text.find(there), caches) << there;
    }
    EXPECT_GT(text.find("(a/levels)"), other) << "an experiment that found nothing";
    EXPECT_LT(other, std::string::npos);
}

TEST(Html, FailedMachineCodeIsListed) {
    const auto text = code_checks(page());
    EXPECT_THAT(
        text,
        HasSubstr("strides&lt;1&gt; (b): expected 8 x LDS; found 7</summary><pre>LDS R1, [R2] &lt;odd&gt;</pre>"));
    EXPECT_THAT(text, HasSubstr("<th scope=row>b</th><td class=pass>1</td><td class=fail>1</td><td>0</td>"));
    EXPECT_EQ(code_checks({}), "");
}

TEST(Html, NamesAreEscaped) {
    const auto text = without_scripts(html(testing::described(), page()));
    for (const char* raw : {"<GPU>", "R&D", "Table <1>", "<of>", "1 < 2", "&& \"so\"", "a & b", "raw<1>", "<memory>"})
        EXPECT_THAT(text, Not(HasSubstr(raw)));
    for (const char* safe : {"<title>gputomo: R&amp;D &lt;GPU&gt; (sim:x)</title>",
                             "<div class=warn>clock: 1 &lt; 2 &amp;&amp; &quot;so&quot;</div>",
                             "Doe 2010, Table &lt;1&gt;", "Latency &lt;of&gt; a &amp; b"})
        EXPECT_THAT(text, HasSubstr(safe));
}

TEST(Html, DrawsTheTracesThatHaveSomethingToDrawAndListsTheOthers) {
    const auto text = html(testing::described(), page());
    EXPECT_THAT(text, HasSubstr("<figcaption>Latency &lt;of&gt; a &amp; b (a/levels)</figcaption>"));
    EXPECT_THAT(text, AllOf(Not(HasSubstr("Nothing to see")), HasSubstr("a/raw&lt;1&gt;: 1 rows of size</li>")));
}

TEST(Html, ManyThingsOfAKindHaveATableWithOneRowEach) {
    machine::Machine m;
    for (int i = 0; i < 20; ++i) m.operations["op." + std::to_string(i)].latency.set(100 + i, {.method = "chain"});
    const auto text = html(m, {});
    expect_balanced(text);
    EXPECT_THAT(text, HasSubstr("<tr><th scope=row>op.17</th><td data-column='latency'><a "
                                "href='#leaf-operations~5bop.17~5d.latency'>117 cycles</a></td>"));
    EXPECT_THAT(text, HasSubstr("<tr id='leaf-operations~5bop.17~5d.latency' "));
}

TEST(Html, PlotsZoomWhereTheBuildHasTheScripts) {
    const auto text = html(testing::described(), page());
    const bool zooms = !vega_scripts().empty();
    EXPECT_EQ(text.find("vegaEmbed") != std::string::npos, zooms);
    EXPECT_EQ(text.find("<script type='application/json'>") != std::string::npos, zooms);
    EXPECT_EQ(vega_scripts().find("</script"), std::string_view::npos);
    EXPECT_THAT(html(testing::described(), {}), Not(HasSubstr("vegaEmbed"))) << "nothing to draw";
}

TEST(Html, SectionsAreClosedAndSumUpTheirValues) {
    const auto text = without_scripts(html(testing::described(), page()));
    EXPECT_THAT(text, Not(HasSubstr("<details class=part open")));
    EXPECT_THAT(text, HasSubstr("<details class=part id=shared><summary><h2>Shared memory</h2><span>latency 38 cycles; "
                                "banks 16; 2 values</span></summary>"));
    EXPECT_THAT(text, HasSubstr("<span>1 chart</span>")) << "of the experiment b";
}

TEST(Html, WhatIsUncertainStandsOnTheFirstScreen) {
    const auto text = html(testing::described(), page());
    const auto first = text.substr(0, text.find("<details class=part"));
    EXPECT_THAT(first, AllOf(HasSubstr("1 of 7 values are undecided: caches.l1."), HasSubstr("<b>caches.l1</b>: <a"),
                             HasSubstr("1 warning of the scan")));
    machine::Machine sure;
    sure.topology.sms.set(4);
    EXPECT_THAT(html(sure, {}), Not(HasSubstr("id=uncertain")));
}

TEST(Html, ValuesThatDoNotSpeakForThemselvesHaveARemark) {
    machine::Machine m;
    m.pipelines["tensor"].lanes.set(16);
    auto& cache = m.caches["l1"];
    cache.capacity.set(100 * 1024), cache.ways.set(4), cache.sets.set(256), cache.line.set(128);
    cache.policy.set("slru", {.method = "chase", .note = "slru explains 99%, random explains 100%"});
    const auto text = html(m, {});
    EXPECT_THAT(text, HasSubstr("<small>2048 FLOP/cycle, FP16, mma.m16n8k16</small>"));
    EXPECT_THAT(text, HasSubstr("<small>data; the tags of 4 ways x 256 sets are for 128 KiB</small>"));
    EXPECT_THAT(text, HasSubstr("random explains 100%. A policy explains a victim if it allows it."));
    cache.capacity.set(128 * 1024);
    EXPECT_THAT(html(m, {}), Not(HasSubstr("the tags of")));
}

TEST(Html, AnEmptyDescriptionStillMakesAPage) {
    const auto text = html({}, {});
    expect_balanced(text);
    EXPECT_THAT(text, EndsWith("</html>\n"));
}

TEST(Html, EscapesTheSpecialCharactersOfHtml) {
    EXPECT_EQ(escaped("a<b>&\"c\"'d' \xc3\xa9"), "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39; \xc3\xa9");
}

}  // namespace
}  // namespace gputomo::report
