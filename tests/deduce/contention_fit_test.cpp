#include "deduce/memory/contention_fit.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gputomo::deduce {
namespace {

std::vector<LoadedLatency> samples(double a, double b, double c) {
    std::vector<LoadedLatency> all;
    for (const double share : {0.05, 0.2, 0.4, 0.6, 0.75, 0.85, 0.9})
        all.push_back({share * c, a + b * share / (1 - share)});
    return all;
}

TEST(ContentionFit, FindsTheCoefficientsThatMadeTheSamples) {
    const auto fit = fit_contention(samples(300, 32, 170));  // Volkov 2016, Table 6.5: Kepler
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->a.value, 300, 1);
    EXPECT_NEAR(fit->b.value, 32, 2);
    EXPECT_NEAR(fit->c.value, 170, 2);
    EXPECT_LT(fit->largest_error, 0.01);
}

TEST(ContentionFit, NoisierSamplesGiveWiderIntervals) {
    auto noisy = samples(440, 17, 140);
    for (std::size_t i = 0; i < noisy.size(); ++i) noisy[i].latency *= i % 2 == 0 ? 1.02 : 0.98;
    const auto clean = fit_contention(samples(440, 17, 140)), fit = fit_contention(noisy);
    ASSERT_TRUE(clean && fit);
    EXPECT_GT(fit->a.interval[1] - fit->a.interval[0], clean->a.interval[1] - clean->a.interval[0]);
    EXPECT_LE(fit->c.interval[0], fit->c.value);
}

TEST(ContentionFit, ReturnsNothingIfLatencyDoesNotGrow) {
    EXPECT_FALSE(fit_contention(std::vector<LoadedLatency>{{1, 300}, {2, 299}, {3, 298}, {4, 297}, {5, 296}}));
    EXPECT_FALSE(fit_contention(std::vector<LoadedLatency>{{1, 300}, {2, 310}}));
}

}  // namespace
}  // namespace gputomo::deduce
