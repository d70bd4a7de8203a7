#include "units/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace gputomo {
namespace {

TEST(Statistics, LeastSquaresRecoverALineFromItsPoints) {
    const std::vector<double> x{1, 2, 4, 8};
    std::vector<double> y;
    for (const double at : x) y.push_back(5 - 3 * at);
    const auto exact = least_squares(x, y);
    EXPECT_NEAR(exact.at_zero, 5, 1e-12);
    EXPECT_NEAR(exact.slope, -3, 1e-12);
    const std::vector<double> steps{0, 1, 2}, up{0, 3, 3};
    EXPECT_NEAR(least_squares(steps, up).slope, 1.5, 1e-12);
    EXPECT_NEAR(least_squares(steps, up).at_zero, 0.5, 1e-12);
    EXPECT_NEAR(exact.slope_uncertainty, 0, 1e-9);
    // Distances of -0.5, 1 and -0.5, with one degree of freedom, over x that lie 0 and 1 from their mean.
    EXPECT_NEAR(least_squares(steps, up).slope_uncertainty, std::sqrt(1.5 / 2), 1e-12);
}

TEST(Statistics, AMeanNearTheMedianIgnoresOutliersAndClockSteps) {
    EXPECT_DOUBLE_EQ(mean_near_median({804, 808, 804, 808, 804, 2000}, 4), (804 * 3 + 808 * 2) / 5.0);
    EXPECT_EQ(mean_near_median({}, 4), 0);
}

TEST(Statistics, FindsTheLocationDespiteJitterAndOutliers) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> jitter(0, 6);
    std::vector<double> readings;
    for (int i = 0; i < 20000; ++i)
        readings.push_back(2 * std::round((440.7 + jitter(random) +
                                           (random() % 25 == 0 ? 500 + static_cast<double>(random() % 1500) : 0)) /
                                          2));
    const auto found = location(readings, 2);
    EXPECT_NEAR(found.mean, 440.7, 0.15);
    EXPECT_NEAR(found.median, 440.7, 0.2);
    EXPECT_NEAR(found.uncertainty, 6 / std::sqrt(20000 * 0.96), 0.002);
    // The median of all readings is not free of outliers.
    EXPECT_GT(median_of_steps(readings, 2), 440.9);
}

TEST(Statistics, KeepsAllQuietReadingsAtAnyClockStep) {
    const auto found = location({804, 808, 804, 808, 804, 2000}, 4);
    EXPECT_DOUBLE_EQ(found.mean, (804 * 3 + 808 * 2) / 5.0);
    EXPECT_EQ(location({440, 440, 440, 441, 442}, 2).mean, 440.6);
    EXPECT_EQ(location(std::vector<double>(9, 77), 1).uncertainty, 0);
    EXPECT_EQ(location({}, 1).mean, 0);
}

}  // namespace
}  // namespace gputomo
