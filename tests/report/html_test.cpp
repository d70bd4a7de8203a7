#include "report/html.hpp"

#include "machine/diff.hpp"
#include "machine/paths.hpp"
#include "machines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>

namespace gputomo::report {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Page page() {
    Page page{.device = "R&D <GPU> (sim:x)", .warnings = {"clock: 1 < 2 && \"so\""}};
    page.traces.push_back({"a/levels", "a", {{"size", "bytes", {1, 2, 4}}, {"latency", "cycles", {10, 20, 40}}}, {"Latency <of> a & b", "size", {"latency"}, true, false}});
    page.traces.push_back({"a/raw<1>", "a", {{"size", "bytes", {1}}}, {}});
    page.traces.push_back({"a/none", "a", {{"size", "bytes", {}}, {"latency", "", {}}}, {"Nothing to see", "size", {"latency"}, false, false}});
    return page;
}

/// Elements that HTML lets one leave open.
bool may_stay_open(const std::string& name) {
    static const std::set<std::string> kOpen{"meta", "th", "tr", "td", "circle", "line"};
    return kOpen.contains(name);
}

/// Every other element that opens must close, in order.
void expect_balanced(const std::string& html) {
    static const std::regex kTag("<(/?)([a-z0-9]+)([^>]*)>");
    std::vector<std::string> open;
    for (std::sregex_iterator tag(html.begin(), html.end(), kTag), end; tag != end; ++tag) {
        const std::string name = (*tag)[2];
        if (may_stay_open(name)) continue;
        if ((*tag)[1].length() == 0) {
            open.push_back(name);
        } else {
            ASSERT_FALSE(open.empty()) << "</" << name << "> closes nothing";
            EXPECT_EQ(open.back(), name);
            open.pop_back();
        }
    }
    EXPECT_TRUE(open.empty()) << "<" << open.back() << "> stays open";
}

TEST(Html, IsOneWholePageThatNeedsNoOtherFile) {
    const auto text = html(testing::described(), page());
    EXPECT_THAT(text, AllOf(StartsWith("<!doctype html>"), EndsWith("</html>\n")));
    expect_balanced(text);
    for (const char* outside : {"http:", "https:", "//", "src=", "href=", "@import", "url(", "<script", "<link", "<iframe"}) EXPECT_THAT(text, Not(HasSubstr(outside)));
}

TEST(Html, HasEveryFinding) {
    const auto machine = testing::described();
    const auto text = html(machine, page());
    for (const auto& leaf : machine::all_leaves(machine)) {
        EXPECT_THAT(text, HasSubstr(">" + leaf.path + "</td>"));
        EXPECT_THAT(text, HasSubstr("<td class=v>" + escaped(machine::value_text(leaf.leaf)) + " ")) << leaf.path;
    }
    EXPECT_THAT(text, HasSubstr(">shared.latency</td><td class=v>38 cycles</td><td>95% [37.5, 38.5]</td><td class=m>chain, one warp. a &amp; b</td>"));
    EXPECT_THAT(text, HasSubstr(">caches.l1.ways</td><td class=v>one of 4, 8 count</td><td>50%</td>"));
    EXPECT_THAT(text, HasSubstr("<div class=card><b>38</b><span>cycles, shared memory latency</span></div>"));
    EXPECT_THAT(text, HasSubstr("<div class=card><b>absent</b><span>L2 capacity</span></div>"));
    EXPECT_THAT(text, Not(HasSubstr("[16, 16]"))) << "an interval of no width says nothing";
}

TEST(Html, EachSectionHasOneHeading) {
    const auto text = html(testing::described(), page());
    static const std::regex kHeading("<h2 id=([a-z_]+)>");
    std::map<std::string, int> headings;
    for (std::sregex_iterator match(text.begin(), text.end(), kHeading), end; match != end; ++match) ++headings[(*match)[1]];
    EXPECT_EQ(headings, (std::map<std::string, int>{{"identity", 1}, {"operations", 1}, {"shared", 1}, {"caches", 1}, {"paths", 1}, {"evidence", 1}}));
}

TEST(Html, NamesAreEscaped) {
    const auto text = html(testing::described(), page());
    for (const char* raw : {"<GPU>", "R&D", "Table <1>", "<of>", "1 < 2", "&& \"so\"", "a & b", "raw<1>"}) EXPECT_THAT(text, Not(HasSubstr(raw)));
    for (const char* safe : {"<title>gputomo: R&amp;D &lt;GPU&gt; (sim:x)</title>", "<div class=warn>clock: 1 &lt; 2 &amp;&amp; &quot;so&quot;</div>", "Doe 2010, Table &lt;1&gt;", "Latency &lt;of&gt; a &amp; b"})
        EXPECT_THAT(text, HasSubstr(safe));
}

TEST(Html, DrawsTheTracesThatHaveSomethingToDraw) {
    const auto text = html(testing::described(), page());
    EXPECT_THAT(text, HasSubstr("</svg><figcaption>Latency &lt;of&gt; a &amp; b (a/levels)</figcaption>"));
    EXPECT_THAT(text, AllOf(Not(HasSubstr("Nothing to see")), Not(HasSubstr("a/raw"))));
}

TEST(Html, OfNothingIsAPageStill) {
    const auto text = html({}, {});
    expect_balanced(text);
    EXPECT_THAT(text, EndsWith("</html>\n"));
}

TEST(Html, EscapesWhatMeansSomethingInHtml) { EXPECT_EQ(escaped("a<b>&\"c\"'d' \xc3\xa9"), "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39; \xc3\xa9"); }

}  // namespace
}  // namespace gputomo::report
