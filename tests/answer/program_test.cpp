// Sums over the launches of a program.
#include "answer/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace gputomo::answer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

capture::Capture captured(std::initializer_list<std::pair<double, double>> runs, bool two_streams = false) {
    capture::Capture capture;
    capture.gpus.push_back({.name = "A GPU"});
    capture.kernels = {{.name = "_Z1f", .readable = "f(int)"}, {.name = "_Z1g", .readable = "g(int)"}};
    for (const auto& [start, us] : runs) {
        capture::Launch launch;
        launch.gpu = 0;
        launch.stream = two_streams ? static_cast<int>(capture.launches.size() % 2) : 0;
        launch.start_us = start;
        launch.us = us;
        launch.kernel = capture::Shape{.kernel = static_cast<int>(capture.launches.size() % 2)};
        capture.launches.push_back(launch);
    }
    return capture;
}

ProgramLaunch answered(std::size_t number, double us, std::string limiter = "DRAM") {
    Answer answer;
    answer.gpu = "A GPU";
    answer.time.microseconds = us;
    answer.limiter = Limiter{.resource = std::move(limiter)};
    return {.number = number, .answer = answer, .failed = {}};
}

TEST(Program, ShortNamesKeepNamespacesAlone) {
    EXPECT_EQ(short_name("sgemm"), "sgemm");
    EXPECT_EQ(short_name("void at::native::(anonymous namespace)::f<4, g(int)>(int, float*)"),
              "at::native::(anonymous namespace)::f");
    EXPECT_EQ(short_name("void (anonymous namespace)::copy(char const*)"), "(anonymous namespace)::copy");
    EXPECT_EQ(short_name("unsigned int count<unsigned int>(int)"), "count");
    EXPECT_EQ(short_name(""), "");
}

TEST(Program, GapsAndOverlapsComeFromTheCapturedTimes) {
    const auto capture = captured({{0, 10}, {5, 10}, {30, 10}}, true);
    const auto program = program_of(capture, {answered(0, 9)});
    ASSERT_TRUE(program.timeline);
    EXPECT_EQ(program.timeline->span_microseconds, 40);
    EXPECT_EQ(program.timeline->busy_microseconds, 25);
    EXPECT_EQ(program.timeline->sum_microseconds, 30);
    EXPECT_EQ(program.timeline->streams, 2);
    EXPECT_EQ(program.not_asked, 2);
    EXPECT_EQ(program.not_asked_microseconds, 20);
    EXPECT_THAT(program_text(program), AllOf(HasSubstr("15.00 us were gaps"), HasSubstr("overlapped for 5.00 us")));
}

TEST(Program, RowsAreSumsOfTheirLaunches) {
    const auto capture = captured({{0, 10}, {10, 40}, {50, 10}});
    const auto program =
        program_of(capture, {answered(0, 12), answered(1, 30, "latency"), answered(2, 9, "issue slots")});
    ASSERT_EQ(program.kernels.size(), 2);
    EXPECT_EQ(program.kernels[0].label, "g");
    const auto& f = program.kernels[1];
    EXPECT_EQ(f.microseconds, 21);
    EXPECT_EQ(f.launches, (std::vector<std::size_t>{0, 2}));
    EXPECT_EQ(f.longest, 0);
    EXPECT_EQ(f.limiter, "DRAM");
    EXPECT_DOUBLE_EQ(f.limiter_share, 12.0 / 21);
    EXPECT_DOUBLE_EQ(*f.error, 21.0 / 20 - 1);
    EXPECT_DOUBLE_EQ(*program.error, 51.0 / 60 - 1);
    EXPECT_FALSE(program.captured_gpu.empty());
}

TEST(Program, EqualFailuresAreOneLine) {
    const auto capture = captured({{0, 1}, {1, 1}, {2, 1}});
    const auto program = program_of(capture, {{.number = 0, .answer = {}, .failed = "no memory"},
                                              {.number = 1, .answer = {}, .failed = "no code"},
                                              {.number = 2, .answer = {}, .failed = "no memory"}});
    EXPECT_EQ(program.failed, 3);
    EXPECT_FALSE(program.error);
    EXPECT_THAT(program_text(program), HasSubstr("  - launches 0, 2: no memory\n  - launch 1: no code\n"));
}

}  // namespace
}  // namespace gputomo::answer
