#include "deduce/pipeline/schedulers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gputomo::deduce {
namespace {

/// Times of 1 to 24 warps on a made-up SM; parameters as in SchedulerFit.
std::vector<SchedulerSample> made(int schedulers, double alone, double issue_cycles, double overhead,
                                  double jitter = 0) {
    std::vector<SchedulerSample> samples;
    for (int warps = 1; warps <= 24; ++warps) {
        const double cycles =
            std::max(alone, overhead + std::ceil(static_cast<double>(warps) / schedulers) * issue_cycles);
        samples.push_back({static_cast<double>(warps), cycles * (1 + jitter * ((warps * 7) % 5))});
    }
    return samples;
}

TEST(Schedulers, FindsTheirNumberFromSteps) {
    for (const int schedulers : {1, 2, 3, 4, 6, 8}) {
        const auto fits = scheduler_fits(made(schedulers, 1, 1, 0), 16);
        ASSERT_EQ(fits.size(), 16u);
        EXPECT_EQ(fits[0].schedulers, schedulers);
        EXPECT_NEAR(fits[0].issue_cycles, 1, 1e-9);
        EXPECT_GT(fits[1].error, 2 * fits[0].error) << schedulers;
    }
}

TEST(Schedulers, FindsTheirNumberDespiteOverheadAndNoise) {
    const auto fits = scheduler_fits(made(2, 6, 2, 0.8, 0.003), 16);
    EXPECT_EQ(fits[0].schedulers, 2);
    EXPECT_NEAR(fits[0].issue_cycles, 2, 0.1);
    EXPECT_LT(fits[0].error, 0.02);
}

TEST(Schedulers, FindsFourOnAnH200) {
    // Operations per cycle of one SM by warps, for independent adds; measured with driver 580 on 2026-11-21.
    const double rates[] = {31.75, 63.50,  95.26,  127.01, 79.77,  95.72,  111.89, 128.50,
                            95.44, 106.25, 115.75, 126.84, 103.39, 110.92, 118.95, 127.01};
    std::vector<SchedulerSample> samples;
    for (const double rate : rates) {
        const double warps = static_cast<double>(samples.size() + 1);
        samples.push_back({warps, 32 * warps / rate});
    }
    const auto fits = scheduler_fits(samples, 16);
    EXPECT_EQ(fits[0].schedulers, 4);
    EXPECT_NEAR(fits[0].issue_cycles, 1, 0.03);
    EXPECT_GT(fits[1].error, 5 * fits[0].error);
}

TEST(Schedulers, NeedTwoSamples) { EXPECT_TRUE(scheduler_fits(std::vector<SchedulerSample>{{1, 4}}, 8).empty()); }

}  // namespace
}  // namespace gputomo::deduce
