// Steps and staircases of curves with known steps.
#include "deduce/series/change_point.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gputomo::deduce {
namespace {

TEST(BestStep, FindsAStepOnALine) {
    std::vector<double> x, y;
    for (int i = 0; i < 40; ++i) {
        x.push_back(i);
        y.push_back(3.0 * i + (i > 24 ? 50 : 0) + i % 3);
    }
    const auto step = best_step(x, y);
    ASSERT_TRUE(step.has_value());
    EXPECT_TRUE(step->significant);
    EXPECT_EQ(step->last_before, 24);
    EXPECT_NEAR(step->height, 50, 3);
    for (int i = 0; i < 40; ++i) y[static_cast<std::size_t>(i)] = 3.0 * i + i % 3;
    EXPECT_FALSE(best_step(x, y)->significant);
    EXPECT_FALSE(best_step(std::vector<double>{1, 2}, std::vector<double>{1, 2}).has_value());
}

TEST(BestStep, IsExactWithoutScatter) {
    std::vector<double> x, y;
    for (int i = 0; i < 10; ++i) {
        x.push_back(2 * i);
        y.push_back(7 + 3.0 * i + (i >= 6 ? 20 : 0));
    }
    const auto step = best_step(x, y);
    ASSERT_TRUE(step.has_value());
    EXPECT_EQ(step->last_before, 10);
    EXPECT_EQ(step->first_after, 12);
    EXPECT_NEAR(step->height, 20, 1e-9);
    EXPECT_TRUE(step->significant);
}

TEST(BestStep, OfASingleCycleIsClockRounding) {
    const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_FALSE(best_step(x, std::vector<double>{5, 5, 5, 5, 6, 6, 6, 6})->significant);
    EXPECT_TRUE(best_step(x, std::vector<double>{5, 5, 5, 5, 8, 8, 8, 8})->significant);
}

TEST(BestStep, NeedsFiveValuesAndOneXForEach) {
    EXPECT_FALSE(best_step(std::vector<double>{1, 2, 3, 4}, std::vector<double>{1, 1, 9, 9}).has_value());
    EXPECT_FALSE(best_step(std::vector<double>{1, 2, 3, 4, 5}, std::vector<double>{1, 1, 9, 9}).has_value());
}

TEST(BestStairs, FindsWidthAndHeight) {
    std::vector<double> x, y;
    for (int i = 1; i <= 40; ++i) {
        x.push_back(i);
        const int stair = (i - 1) / 7;
        y.push_back(100 + 2.0 * i + 30.0 * stair);
    }
    const auto stairs = best_stairs(x, y);
    ASSERT_TRUE(stairs.has_value());
    EXPECT_EQ(stairs->width, 7);
    EXPECT_NEAR(stairs->height, 30, 1e-6);
    EXPECT_NEAR(stairs->error, 0, 1e-6);
    EXPECT_GT(stairs->error_of_line, 5);
    EXPECT_TRUE(stairs->significant);
}

TEST(BestStairs, OfALineAreNotSignificant) {
    std::vector<double> x, y;
    for (int i = 1; i <= 40; ++i) {
        x.push_back(i);
        y.push_back(100 + 9.0 * i + i % 3);
    }
    const auto stairs = best_stairs(x, y);
    ASSERT_TRUE(stairs.has_value());
    EXPECT_FALSE(stairs->significant);
    EXPECT_LE(stairs->error, stairs->error_of_line);
    EXPECT_FALSE(best_stairs(std::vector<double>{1, 2, 3, 4}, std::vector<double>{1, 1, 9, 9}).has_value());
}

TEST(FirstJump, IsTheFirstStairOfAStaircase) {
    std::vector<double> x, y;
    for (int i = 0; i < 32; ++i) {
        x.push_back(i + 1);
        const int stair = i / 5;
        y.push_back(500 + 2.0 * i + 80.0 * stair);
    }
    const auto jump = first_jump(x, y);
    ASSERT_TRUE(jump.has_value());
    EXPECT_TRUE(jump->significant);
    EXPECT_EQ(jump->last_before, 5);
    for (int i = 0; i < 32; ++i) y[static_cast<std::size_t>(i)] = 500 + 6.0 * i + i % 2;
    EXPECT_FALSE(first_jump(x, y)->significant);
}

TEST(FirstJump, IsTheFirstOfSeveralLargeRises) {
    const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8};
    const auto jump = first_jump(x, std::vector<double>{100, 100, 140, 140, 160, 160, 210, 210});
    ASSERT_TRUE(jump.has_value());
    EXPECT_EQ(jump->last_before, 2) << "the rise of 40 is more than 0.55 of the largest, 50";
    EXPECT_EQ(jump->first_after, 3);
    EXPECT_EQ(jump->height, 40);
    EXPECT_EQ(first_jump(x, std::vector<double>{100, 100, 120, 120, 170, 170, 170, 170})->last_before, 4);
}

}  // namespace
}  // namespace gputomo::deduce
