#include "report/modelled.hpp"

#include "report/html.hpp"
#include "report/plot/vega.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gputomo::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two models, of which the second is better, and two accesses, of which one has no models.
Modelled modelled() {
    Modelled m;
    m.models = {{"roof", "a roof <high>", "Doe 2009", false}, {"best", "just right", "Roe 2010", true}};
    const ModelledMix half{
        0.5, {{1, 0.1}, {2, 0.2}}, {{{1, 1.0}, {2, 1.0}}, {{1, 0.1}, {2, 0.21}}}, std::nullopt, {1, std::nullopt}};
    const ModelledMix four{4, {{1, 0.5}, {2, 0.9}}, {{{1, 1.0}, {2, 1.0}}, {{1, 0.5}, {2, 0.9}}}, 2, {1, 2}};
    m.accesses.push_back({"global", "streaming loads", "", {half, four}, {3.0, 1.02}});
    m.accesses.push_back({"l1", "loads & hits", "none knows this access", {{4, {{1, 0.7}}, {}, std::nullopt, {}}}, {}});
    return m;
}

TEST(Modelled, ModelsAreRankedByTheirErrorsAndChosenByCheckBoxes) {
    const auto text = modelled_section(modelled());
    EXPECT_LT(text.find("just right (Roe 2010)"), text.find("a roof &lt;high&gt; (Doe 2009)"));
    EXPECT_THAT(
        text,
        AllOf(HasSubstr("<td>2.0%</td>"), HasSubstr("<td>200.0%</td>"),
              HasSubstr("<h3>Adds and loads &amp; hits</h3><p class=m>Without models: none knows this access</p>")));
    EXPECT_EQ(text.find("data-model='best' checked") != std::string::npos, !vega_scripts().empty());
    EXPECT_THAT(text, Not(HasSubstr("data-model='roof' checked")));
}

TEST(Modelled, EachAccessHasThePlotOfNeededWarpsAndItsMixes) {
    const auto text = modelled_section(modelled());
    for (const char* plot :
         {"models/global_needed", "models/global_alpha_0.5", "models/global_alpha_4", "models/l1_alpha_4"})
        EXPECT_THAT(text, HasSubstr(std::string(plot).append(")</figcaption>")));
    EXPECT_THAT(text, Not(HasSubstr("models/l1_needed"))) << "no peak is known of it";
}

TEST(Modelled, TheStaticPictureHasOnlyTheModelsThatAreShownAtFirst) {
    const auto text = modelled_section(modelled());
    EXPECT_THAT(text, AllOf(HasSubstr(">best</text>"), HasSubstr("<polyline"), Not(HasSubstr(">roof</text>"))));
    if (vega_scripts().empty()) GTEST_SKIP() << "nothing is chosen without scripts";
    EXPECT_THAT(text, AllOf(HasSubstr(R"("models":["roof","best"])"),
                            HasSubstr(R"({"name":"roof","x":[1,2],"y":[1,1],"as":"line"})")));
}

TEST(Modelled, TitlesSayTheWarpsThatAreNeededAndMarkThem) {
    const auto text = modelled_section(modelled());
    EXPECT_THAT(text, HasSubstr("<p class=finding>4 adds for each of the streaming loads: at most 0.9 instructions per "
                                "cycle, 90% of it from 2 warps</p>"));
    EXPECT_THAT(text, HasSubstr("<text class=mark "));
    EXPECT_THAT(text, HasSubstr("Most warps are needed with 4 adds for each of the streaming loads: 2"));
}

TEST(Modelled, WithoutMeasurementsThereIsNoSection) {
    EXPECT_EQ(modelled_section({}), "");
    EXPECT_THAT(html({}, {}), Not(HasSubstr("id=models>")));
    Page page;
    page.modelled = modelled();
    EXPECT_THAT(html({}, page), AllOf(HasSubstr("<a href='#models'>"), HasSubstr("<details class=part id=models>")));
}

TEST(Modelled, OfManyMixesAFewFromFirstToLastAreDrawn) {
    Modelled m;
    m.accesses.push_back({"l1", "hits", "", {}, {}});
    for (int alpha = 0; alpha < 20; ++alpha)
        m.accesses[0].mixes.push_back({alpha + 1.0, {{1, 1}}, {}, std::nullopt, {}});
    const auto text = modelled_section(m);
    EXPECT_THAT(text, AllOf(HasSubstr("(models/l1_alpha_1)"), HasSubstr("(models/l1_alpha_20)"),
                            Not(HasSubstr("(models/l1_alpha_2)"))));
}

}  // namespace
}  // namespace gputomo::report
