// The page of an answer: what has to be on it, what must not, and pages of answers that lack most of it.
#include "pages/answer_page.hpp"

#include "answer/predict.hpp"
#include "machine/json.hpp"
#include "pages/parts.hpp"
#include "sim/completion.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace gputomo::pages {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// coalesced<<<8, 256>>> of kernels/advice.
const answer::Answer& predicted_answer() {
    static const answer::Answer answer = [] {
        launch::Launch launch;
        launch.code = read_file(GPUTOMO_SOURCE_DIR "/tests/answer/fixtures/advice/coalesced.cubin", "a cubin");
        launch.kernel = "coalesced";
        launch.grid = {.x = 8};
        launch.block = {.x = 256};
        for (const std::uint64_t bytes : {8192, 67108864}) {
            launch.arguments.push_back({.offset = 8 * launch.arguments.size(),
                                        .bytes = std::vector<std::byte>(8),
                                        .buffer = launch.buffers.size()});
            launch.buffers.push_back({.name = "an array", .bytes = bytes, .address = {}});
        }
        const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
        return answer::predict(launch, {machine, "sim:h200"}, {}, {}, answer::Advising::tried);
    }();
    return answer;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

/// Elements that are opened and not closed, or closed and not opened.
std::string unbalanced(const std::string& html) {
    for (const std::string element : {"div", "section", "table", "svg", "span", "details", "figure", "ol", "ul", "nav"})
        if (const auto opened = count_of(html, "<" + element + " ") + count_of(html, "<" + element + ">"),
            closed = count_of(html, "</" + element + ">");
            opened != closed)
            return element + ": " + std::to_string(opened) + " opened, " + std::to_string(closed) + " closed";
    return {};
}

TEST(AnswerPage, HasEverySectionOnce) {
    const auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    const auto html =
        answer_html(predicted_answer(), {.machine = &machine, .assumed_of_gpu = {"a guess"}, .made_by = "me"});
    for (const std::string id : {"time", "advice", "stalls", "lines", "instructions", "roofline", "memory", "timeline",
                                 "launch", "warnings", "assumed"}) {
        EXPECT_EQ(count_of(html, "id='" + id + "'"), 1U) << id;
        EXPECT_EQ(count_of(html, "href='#" + id + "'"), 1U) << id;
    }
    EXPECT_EQ(unbalanced(html), "");
    EXPECT_THAT(html, AllOf(HasSubstr("coalesced.cu:10"), HasSubstr("long_scoreboard"), HasSubstr("times as fast"),
                            HasSubstr("a guess"), HasSubstr("90% interval")));
}

TEST(AnswerPage, OpensOfflineAndRunsNothing) {
    const auto html = answer_html(predicted_answer(), {});
    EXPECT_THAT(html, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("http:")), Not(HasSubstr("https:")),
                            Not(HasSubstr(" src="))));
    EXPECT_LT(html.size(), 300'000U);
}

TEST(AnswerPage, RooflineHasTheCeilingsOfTheDescription) {
    const auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    const auto with = answer_html(predicted_answer(), {.machine = &machine}),
               without = answer_html(predicted_answer(), {});
    EXPECT_THAT(with,
                AllOf(HasSubstr("<li>L2 from DRAM: "), HasSubstr("<li>f64: 33.5 TFLOP/s"), HasSubstr("<li>f32: ")));
    EXPECT_THAT(without, AllOf(HasSubstr("<li>f32: "), Not(HasSubstr("<li>f64: "))));
    EXPECT_THAT(with, AllOf(HasSubstr("FP16 tensor (wgmma): 1.07 PFLOP/s"), HasSubstr("FP16 tensor (mma): 714 TFLOP/s"),
                            HasSubstr("TF32 tensor (wgmma): ")))
        << "also of units that the launch does not use";
    EXPECT_THAT(without, Not(HasSubstr("tensor")));
}

TEST(AnswerPage, PicturesSayWhatTheyShow) {
    const auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    const auto html = answer_html(predicted_answer(), {.machine = &machine});
    const auto& launch = predicted_answer();
    EXPECT_EQ(count_of(html, "<p class=finding>"), 6U) << "time, stalls, instructions, roofline, memory and timeline";
    EXPECT_THAT(html, HasSubstr("alone would take "));
    EXPECT_THAT(html, HasSubstr(" of its nearest ceiling, "));
    EXPECT_THAT(html, HasSubstr(">cycles from the start of the launch<"));
    ASSERT_TRUE(launch.work.l2_read_bytes);
    const auto rate = std::ranges::find(launch.byte_rates, "L1 from L2", &answer::Rate::what);
    ASSERT_NE(rate, launch.byte_rates.end());
    EXPECT_THAT(html, HasSubstr(">" + quantity(*launch.work.l2_read_bytes, "B") + "<"));
    EXPECT_THAT(html, HasSubstr(">" + quantity(rate->per_second, "B/s") + ", " +
                                percent(rate->per_second / *rate->ceiling) + "<"));
}

TEST(AnswerPage, SmallSharesAreNotZero) {
    EXPECT_EQ(percent(0.42), "42%");
    EXPECT_EQ(percent(0.004), "0.4%");
    EXPECT_EQ(percent(0.00004), "below 0.1%");
    EXPECT_EQ(percent(0), "0%");
}

TEST(AnswerPage, SensitivityAndResultsAreShownWhereTheyWereAskedFor) {
    auto answer = predicted_answer();
    EXPECT_THAT(answer_html(answer, {}), AllOf(Not(HasSubstr("id='sensitivity'")), Not(HasSubstr("id='results'"))));
    answer.sensitivity = {{{.path = "caches.<l1>.latency",
                            .value = "32 cycles",
                            .evidence = "measured",
                            .larger_cycles = 1.05 * answer.time.cycles,
                            .smaller_cycles = 0.95 * answer.time.cycles,
                            .elasticity = 0.5}}};
    answer.differences.emplace(1);
    const auto html = answer_html(answer, {});
    EXPECT_THAT(html, AllOf(HasSubstr("It depends most on caches.&lt;l1&gt;.latency"),
                            HasSubstr("+5.0%; 32 cycles, measured"), HasSubstr("1 buffer differs from what")));
    EXPECT_EQ(unbalanced(html), "");
}

TEST(AnswerPage, TextOfOthersIsEscaped) {
    auto answer = predicted_answer();
    answer.launch.kernel = "<img src=x onerror=alert(1)>";
    answer.warnings = {"</style><b>"};
    answer.instructions.front().text = "<i>MOV";
    answer.instructions.front().source = sass::SourcePlace{.at = {"a'onclick='b.cu", 7}, .callers = {}};
    for (const auto& html : {answer_html(answer, {}), compact_html(answer)})
        EXPECT_THAT(html, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("</style><b>")), Not(HasSubstr("<i>MOV")),
                                Not(HasSubstr("'onclick="))));
}

TEST(AnswerPage, PartsThatAreNotKnownAreLeftOut) {
    answer::Answer answer;
    answer.launch.kernel = "k";
    answer.gpu = "G";
    answer.time = {.cycles = 1000, .microseconds = 1, .launch_cycles = {}};
    const auto html = answer_html(answer, {});
    EXPECT_EQ(unbalanced(html), "");
    for (const std::string id :
         {"time", "advice", "stalls", "lines", "instructions", "roofline", "timeline", "warnings"})
        EXPECT_THAT(html, Not(HasSubstr("id='" + id + "'"))) << id;
    EXPECT_THAT(html, AllOf(HasSubstr("id='memory'"), Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
    EXPECT_EQ(unbalanced(compact_html(answer)), "");
}

TEST(AnswerPage, CompactPartFitsANotebook) {
    const auto html = compact_html(predicted_answer());
    EXPECT_TRUE(html.starts_with("<div class='answer gputomo-card'>"));
    EXPECT_TRUE(html.ends_with("</div>"));
    EXPECT_EQ(unbalanced(html), "");
    EXPECT_THAT(html, AllOf(HasSubstr("coalesced"), HasSubstr("long_scoreboard"), Not(HasSubstr(" id="))));
    EXPECT_LT(html.size(), 20'000U);
}

TEST(AnswerPage, AProgramHasTheLongestLaunchOfEachKernel) {
    answer::Program program{.gpu = "G",
                            .kernels = {{.kernel = "a", .label = "a", .launches = {1, 4}, .longest = 4},
                                        {.kernel = "b", .label = "<b>", .launches = {2}, .longest = 2}}};
    program.failures = {{"no <code>", {3}}};
    program.failed = 1;
    const auto html = program_html(
        program,
        {{1, predicted_answer(), {}}, {2, predicted_answer(), {}}, {3, {}, "no <code>"}, {4, predicted_answer(), {}}},
        {});
    EXPECT_EQ(unbalanced(html), "");
    EXPECT_THAT(html, AllOf(HasSubstr("href='#k4'"), HasSubstr("id=k4"), HasSubstr("id='k4-stalls'"),
                            HasSubstr("id='k2-stalls'"), Not(HasSubstr("id='k1-stalls'")), Not(HasSubstr("<b>a")),
                            HasSubstr("no &lt;code&gt;")));
    std::set<std::string> ids;
    const std::regex id(" id='?([^ '>]+)");
    for (std::sregex_iterator at(html.begin(), html.end(), id), end; at != end; ++at)
        EXPECT_TRUE(ids.insert((*at)[1]).second) << (*at)[1];
}

}  // namespace
}  // namespace gputomo::pages
