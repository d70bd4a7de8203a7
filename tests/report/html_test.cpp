#include "report/html.hpp"

#include "machine/diff.hpp"
#include "machine/paths.hpp"
#include "machines.hpp"

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

/// What stands between each `start` and the first of `ends` behind it.
std::vector<std::string> all_after(const std::string& text, const std::string& start, const char* ends) {
    std::vector<std::string> all;
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
        const auto from = at + start.size();
        all.push_back(text.substr(from, text.find_first_of(ends, from) - from));
    }
    return all;
}

/// Every other element that opens must close, in order.
void expect_balanced(const std::string& html) {
    std::vector<std::string> open;
    for (const auto& tag : all_after(html, "<", " >")) {
        if (tag.starts_with('!') || may_stay_open(tag)) continue;
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
    EXPECT_THAT(all_after(text, "<h2 id=", ">"), ElementsAre("identity", "operations", "shared", "caches", "paths", "evidence"));
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
