#include "report/plot/series.hpp"
#include "report/plot/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace gputomo::report {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

results::Trace trace(std::vector<double> x, std::vector<double> y, bool log_x = false, bool log_y = false) {
    return {"a/t",
            "a",
            {{"size", "bytes", std::move(x)}, {"latency", "cycles", std::move(y)}},
            {"Title", "size", {"latency"}, log_x, log_y}};
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
    return n;
}

/// The numbers after each `attribute='`.
std::vector<double> numbers(const std::string& svg, const std::string& attribute) {
    std::vector<double> all;
    const std::string start = " " + attribute + "='";
    for (auto at = svg.find(start); at != std::string::npos; at = svg.find(start, at + 1))
        all.push_back(std::strtod(svg.c_str() + at + start.size(), nullptr));
    return all;
}

void expect_inside_the_frame(const std::string& picture) {
    for (const char* attribute : {"x", "cx", "x1", "x2"})
        for (const double x : numbers(picture, attribute)) EXPECT_TRUE(x >= 0 && x <= 640) << attribute << " " << x;
    for (const char* attribute : {"y", "cy", "y1", "y2"})
        for (const double y : numbers(picture, attribute)) EXPECT_TRUE(y >= 0 && y <= 300) << attribute << " " << y;
}

TEST(Plot, HasAxesPointsAndALegend) {
    const auto picture = svg(trace({0, 5, 10}, {20, 40, 60}));
    EXPECT_THAT(picture, AllOf(StartsWith("<svg "), EndsWith("</svg>"), HasSubstr(">size<"),
                               HasSubstr(">latency, cycles<"), HasSubstr("<title>5, 40</title>")));
    EXPECT_EQ(numbers(picture, "cx"), (std::vector<double>{64, 344, 624}));
    EXPECT_EQ(numbers(picture, "cy"), (std::vector<double>{176, 96, 16}));
    expect_inside_the_frame(picture);
}

TEST(Plot, IsEmptyWithoutPoints) {
    EXPECT_EQ(svg({}), "");
    EXPECT_EQ(svg(trace({}, {})), "");
    EXPECT_EQ(svg(trace({1, 2}, {kNan, kInfinity})), "");
    EXPECT_EQ(svg(trace({1, 2}, {1, 2, 3})), "") << "columns of unequal length";
    EXPECT_EQ(svg(trace({-1, 0}, {1, 2}, true)), "") << "nothing positive on a logarithmic axis";
    EXPECT_EQ(svg(trace({1, 2}, {0, -2}, false, true)), "");
    auto without_plot = trace({1, 2}, {1, 2});
    without_plot.plot = {};
    EXPECT_EQ(svg(without_plot), "");
    auto no_such_x = trace({1, 2}, {1, 2});
    no_such_x.plot.x = "stride";
    EXPECT_EQ(svg(no_such_x), "");
    auto no_such_y = trace({1, 2}, {1, 2});
    no_such_y.plot.y = {"time"};
    EXPECT_EQ(svg(no_such_y), "");
}

TEST(Plot, LeavesOutPointsThatAreNotFiniteOrNotPositiveOnALogAxis) {
    const auto picture = svg(trace({1, 2, kNan, 4, 0}, {1, kInfinity, 3, 4, 5}, true));
    EXPECT_EQ(count(picture, "<circle"), 2U);
    EXPECT_THAT(picture, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
}

/// Tests ranges without width, with a width below the precision of their values, and within one power of two.
TEST(Plot, EveryRangeHasAFrameAndTicks) {
    const double far = 1.7e18;  // a timer in nanoseconds since 1970
    const std::vector<std::vector<double>> ranges{
        {5},          {5, 5},  {0, 0},   {far, far}, {far, far + 512}, {1e300, 1e300}, {1e-20, 2e-20},
        {1100, 1900}, {-1, 1}, {1, 1e12}};
    for (const auto& range : ranges)
        for (const bool log : {false, true}) {
            SCOPED_TRACE(::testing::PrintToString(range) + (log ? " log" : ""));
            if (log && range.front() <= 0) continue;
            for (const auto& picture : {svg(trace(range, range, log, log)),
                                        svg(trace(range, std::vector<double>(range.size(), 7), log, log))}) {
                EXPECT_GE(count(picture, "<line class=grid x1='"), 2U);
                EXPECT_LE(count(picture, "<line class=grid x1='"), 24U);
                EXPECT_THAT(picture, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
                expect_inside_the_frame(picture);
            }
        }
}

TEST(Plot, SizesHaveBinaryTicks) {
    const auto picture = svg(trace({1024, 4096, 1 << 20}, {1, 2, 3}, true));
    EXPECT_THAT(picture, AllOf(HasSubstr(">1 KiB<"), HasSubstr(">256 KiB<")));
}

TEST(Plot, SizesOnALinearAxisHaveBinaryTicksToo) {
    EXPECT_THAT(svg(trace({0, 200'000}, {1, 2})),
                AllOf(HasSubstr(">64 KiB<"), HasSubstr(">128 KiB<"), Not(HasSubstr("000<"))));
}

TEST(Plot, CountsHaveWholeTicks) {
    auto few = trace({1, 2, 3}, {0.5, 1, 1.5});
    few.columns[0] = {"warps", "count", {1, 2, 3}};
    few.plot.x = "warps";
    const auto picture = svg(few);
    EXPECT_THAT(picture, AllOf(HasSubstr(">2</text>"), Not(HasSubstr(">1.5</text></line>"))));
    EXPECT_EQ(ticks_of(few.columns[0]), Ticks::whole);
    EXPECT_EQ(Axis(1, 3, false, 0, 1, Ticks::whole).ticks(), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(Axis(1, 2, false, 0, 1, Ticks::whole).ticks(), (std::vector<double>{1, 2}));
    few.columns[0].values = {0.25, 0.5};
    EXPECT_EQ(ticks_of(few.columns[0]), Ticks::decimal) << "a quarter of a warp in the mean";
}

TEST(Plot, AxesSayNothingTwice) {
    const auto title = [](const char* name, const char* unit) { return axis_title({name, unit, {}}); };
    EXPECT_EQ(title("cycles", "cycles"), "cycles");
    EXPECT_EQ(title("cycles", "cycles/instruction"), "cycles/instruction");
    EXPECT_EQ(title("in_flight", "bytes"), "in flight") << "the ticks have the unit";
    EXPECT_EQ(title("sm", "id"), "SM");
    EXPECT_EQ(title("rate", "GB/s"), "rate, GB/s");
}

TEST(Plot, OneAxisHasOneUnit) {
    auto t = trace({1, 2}, {3, 4});
    t.columns.push_back({"variance", "cycles^2", {900, 1600}});
    t.columns.push_back({"highest", "cycles", {5, 6}});
    t.plot.y = {"latency", "variance", "highest"};
    const auto picture = svg(t);
    EXPECT_THAT(picture, AllOf(HasSubstr(">latency</text>"), HasSubstr(">highest</text>"), Not(HasSubstr("variance"))));
}

TEST(Plot, AMarkIsALineWithItsLabel) {
    const auto t = trace({0, 5, 10}, {20, 40, 60});
    const auto picture = svg(t, {}, {{Mark::Axis::x, 5, "the <knee>"}, {Mark::Axis::y, 40, "half"}});
    EXPECT_THAT(picture, AllOf(HasSubstr("<line class=mark x1='344.0' x2='344.0'"), HasSubstr("the &lt;knee&gt;"),
                               HasSubstr("<line class=mark x1='64' x2='624' y1='96.0'"), HasSubstr(">half<")));
    expect_inside_the_frame(picture);
    EXPECT_THAT(svg(t, {}, {{Mark::Axis::x, 11, "outside"}}), Not(HasSubstr("outside")));
    EXPECT_THAT(svg(t, {}, {{Mark::Axis::x, 10, "at the end"}}), HasSubstr("text-anchor=end>at the end"));
}

TEST(Plot, TheLastTickStaysInsideThePicture) {
    const auto picture = svg(trace({1 << 20, 256 << 20}, {1, 2}, true));
    EXPECT_THAT(picture, HasSubstr("x='640.0' y='272' text-anchor=end>256 MiB<"));
}

TEST(Plot, PartsHaveTheNamesThatTheUnitGivesThem) {
    const results::Trace::Column kinds{"kind", "0 integer, 1 float", {}};
    EXPECT_EQ(name_of_value(kinds, 1), "float");
    EXPECT_EQ(name_of_value(kinds, 2), "kind 2");
    EXPECT_EQ(name_of_value({"width", "bytes", {}}, 16), "16 bytes");
}

TEST(Plot, ATickAtZeroIsExactlyZero) {
    for (const double low : {-0.3, -0.7, -1.1}) {
        const auto picture = svg(trace({low, 0.3}, {1, 2}));
        EXPECT_THAT(picture, AllOf(HasSubstr(">0<"), Not(HasSubstr("e-")))) << low;
    }
}

TEST(Plot, ALongTraceIsThinnedToItsExtremes) {
    std::vector<double> x, y;
    for (int i = 0; i < 1'000'000; ++i) {
        x.push_back(i);
        y.push_back(100 + i % 7);
    }
    y[654'321] = 5000;  // one slow load among a million
    y[12'345] = 3;
    const auto long_one = trace(x, y);
    const auto series = series_of(long_one);
    ASSERT_EQ(series.size(), 1U);
    EXPECT_TRUE(series[0].thinned);
    EXPECT_GE(series[0].points.size(), 1500U);
    EXPECT_LE(series[0].points.size(), 2000U);
    EXPECT_TRUE(std::is_sorted(series[0].points.begin(), series[0].points.end()));
    for (const std::size_t kept : {654'321U, 12'345U})
        EXPECT_TRUE(std::binary_search(series[0].points.begin(), series[0].points.end(), kept)) << kept;
    EXPECT_EQ(count(svg(long_one), "<circle"), series[0].points.size());
}

TEST(Plot, AShortTraceKeepsAllPoints) {
    std::vector<double> x(4000, 5);  // all at one place
    EXPECT_EQ(count(svg(trace(x, x)), "<circle"), 4000U);
}

TEST(Plot, NamesAreEscaped) {
    auto odd = trace({1, 2}, {1, 2});
    odd.plot = {"a<b> & 'c'", "<x>", {"<y>"}, false, false};
    odd.columns[0].name = "<x>";
    odd.columns[1].name = "<y>";
    odd.columns[0].unit = "<u>";
    const auto picture = svg(odd);
    EXPECT_THAT(picture, AllOf(HasSubstr("a&lt;b&gt; &amp; &#39;c&#39;"), HasSubstr("&lt;x&gt;, &lt;u&gt;"),
                               HasSubstr("&lt;y&gt;")));
    EXPECT_THAT(picture,
                AllOf(Not(HasSubstr("<x>")), Not(HasSubstr("<y>")), Not(HasSubstr("<u>")), Not(HasSubstr("<b>"))));
}

/// A trace with rows of (x, y, extra).
results::Trace formed(const std::vector<std::array<double, 3>>& rows) {
    results::Trace t{
        "a/t", "a", {{"sm", "", {}}, {"row", "", {}}, {"extra", "cycles", {}}}, {"Title", "sm", {"row"}, false, false}};
    for (const auto& row : rows)
        for (std::size_t i = 0; i < 3; ++i) t.columns[i].values.push_back(row[i]);
    return t;
}

TEST(Plot, SplitsByTheValuesOfAColumn) {
    auto t = formed({{0, 5, 2}, {1, 6, 2}, {0, 9, 1}, {1, 8, 1}});
    t.plot.split = "extra";
    const auto series = series_of(t);
    ASSERT_EQ(series.size(), 2U);
    EXPECT_EQ(series[0].name, "extra 1");
    EXPECT_THAT(series[0].points, ::testing::ElementsAre(2U, 3U));
    EXPECT_EQ(series[1].name, "extra 2");
    EXPECT_THAT(series[1].points, ::testing::ElementsAre(0U, 1U));
    EXPECT_THAT(svg(t), HasSubstr(">extra 2</text>"));
    t.plot.split = "no such";
    EXPECT_EQ(series_of(t).size(), 1U);
}

TEST(Plot, AMapShowsAColumnAsColour) {
    auto t = formed({{0, 0, 10}, {1, 1, 20}, {2, 0, kNan}});
    t.plot.shade = "extra";
    const auto text = svg(t);
    EXPECT_EQ(count(text, "<path fill='hsl("), 2U) << "what is no number has no colour";
    EXPECT_THAT(text,
                AllOf(HasSubstr("hsl(260 75% 28%)"), HasSubstr("hsl(55 75% 60%)"), HasSubstr("colour: extra, cycles")));
}

TEST(Plot, AFullMapHasNoGapsAndStaysInItsFrame) {
    std::vector<std::array<double, 3>> rows;
    for (int i = 0; i < 57; ++i)
        for (int j = 0; j < 26; ++j) rows.push_back({static_cast<double>(i), static_cast<double>(j), 7});
    auto t = formed(rows);
    t.plot.shade = "extra";
    const auto text = svg(t);
    // Cells are 560 / 56 by 240 / 25 pixels. The one in the middle is whole; the frame cuts the one in the corner.
    EXPECT_THAT(text, AllOf(HasSubstr("M339.0 136.0h10.0v9.6h-10.0z"), HasSubstr("M64.0 251.2h5.0v4.8h-5.0z")));
    EXPECT_FALSE(series_of(t)[0].thinned);
}

TEST(Plot, ATimelineHasABarFromStartToEnd) {
    auto t = formed({{0, 1, 50}, {50, 2, 100}});
    t.plot.until = "extra";
    const auto text = svg(t);
    EXPECT_THAT(text, AllOf(HasSubstr("<title>1: 0 to 50</title>"), HasSubstr("<title>2: 50 to 100</title>")));
    const auto widths = numbers(text, "width");
    ASSERT_EQ(widths.size(), 2U);
    EXPECT_NEAR(widths[0], 280, 0.2) << "half of the picture";
    EXPECT_NEAR(widths[1], 280, 0.2);
}

TEST(Plot, ALargeMapKeepsTheLargestShadeOfEachPlace) {
    std::vector<std::array<double, 3>> rows;
    for (int i = 0; i < 1000; ++i)
        for (int j = 0; j < 1000; ++j)
            rows.push_back({static_cast<double>(i), static_cast<double>(j), i == 617 && j == 333 ? 9.0 : 1.0});
    auto t = formed(rows);
    t.plot.shade = "extra";
    const auto series = series_of(t);
    ASSERT_EQ(series.size(), 1U);
    EXPECT_TRUE(series[0].thinned);
    EXPECT_LT(series[0].points.size(), 20000U);
    EXPECT_TRUE(std::any_of(series[0].points.begin(), series[0].points.end(),
                            [&](auto row) { return t.columns[2].values[row] == 9; }));
}

}  // namespace
}  // namespace gputomo::report
