// Finds the cusp on surfaces that models with and without a cusp made.
#include "gpus.hpp"

#include "models/cusp.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace gputomo::models::testing::of_cusps {
namespace {

constexpr double kOnlyAdds = Mix::kArithmeticOnly;
constexpr int kEnough = 256;

std::vector<MeasuredMix> as_if(std::string_view model, const Parameters& p, int most) {
    std::vector<MeasuredMix> surface;
    for (const double alpha : {1.0, 4.0, 16.0, 32.0, 48.0, 64.0, 128.0, 512.0}) {
        auto& measured = surface.emplace_back(MeasuredMix{{alpha}, {}});
        for (int warps = 1; warps <= most; ++warps) measured.throughput[warps] = ipc(model, p, alpha, warps);
    }
    return surface;
}

TEST(Cusp, LiesWhereBothPeaksMeet) {  // 4.5: 54 warps at alpha 49; nine tenths of them have 90% of the peak
    const auto p = gpu("gtx980");
    const auto cusp = cusp_of(measured_needs(p, as_if("volkov-basic", p, p.max_warps)));
    ASSERT_TRUE(cusp);
    EXPECT_EQ(cusp->warps, 49);
    EXPECT_EQ(cusp->alpha, 48);
    EXPECT_EQ(cusp->first_alpha, 48);
    EXPECT_EQ(cusp->last_alpha, 48);
    EXPECT_TRUE(cusp->above_both_ends);
}

TEST(Cusp, HasNoWarpsIfNoOccupancyReachesThePeak) {
    const auto p = gpu("gtx980");
    const auto needs = measured_needs(p, as_if("volkov-basic", p, 40));
    const auto cusp = cusp_of(needs);
    ASSERT_TRUE(cusp);
    EXPECT_FALSE(cusp->warps);
    EXPECT_EQ(cusp->alpha, 48);
    EXPECT_EQ(cusp->first_alpha, 32);
    EXPECT_EQ(cusp->last_alpha, 64);
    EXPECT_TRUE(cusp->above_both_ends);
    EXPECT_NEAR(cusp->attained, 40 / 53.5, 0.005);
    EXPECT_NEAR(needs.at(512).attained, 1, 1e-9);
}

TEST(Cusp, ShowsInTheAttainedShareIfNoOccupancyIsEnough) {  // as on an H200, whose streams reach no 90% either
    const Needs cusp{{1, {{}, 0.6}}, {8, {{}, 0.5}}, {64, {{}, 0.7}}},
        no_cusp{{1, {{}, 0.6}}, {8, {{}, 0.595}}, {64, {30, 0.95}}};
    EXPECT_EQ(cusp_of(cusp)->alpha, 8);
    EXPECT_TRUE(cusp_of(cusp)->above_both_ends);
    EXPECT_FALSE(cusp_of(no_cusp)->above_both_ends);
    EXPECT_EQ(cusp_of(no_cusp)->last_alpha, 8);
}

TEST(Cusp, IsAbsentFromAModelThatTakesTheLongerLatency) {  // 7.10
    const auto p = gpu("8800gtx");
    const auto cusp = cusp_of(measured_needs(p, as_if("baghsorkhi", p, kEnough)));
    ASSERT_TRUE(cusp);
    EXPECT_FALSE(cusp->above_both_ends);
}

TEST(Cusp, ComparesWithOneKindOfInstructionAlone) {
    auto p = gpu("gtx980");
    EXPECT_FALSE(measured_needs(p, as_if("volkov-basic", p, 8)).contains(0));
    for (int warps = 1; warps <= p.max_warps; ++warps) {
        p.memory_curve[warps] = ipc("volkov-basic", p, 0, warps);
        p.arithmetic_curve[warps] = ipc("volkov-basic", p, kOnlyAdds, warps);
    }
    const auto needs = measured_needs(p, {});
    EXPECT_EQ(needs.at(0).warps, 27);          // 0.9 of 30 (4.3)
    EXPECT_EQ(needs.at(kOnlyAdds).warps, 22);  // 0.9 of 24
    EXPECT_FALSE(cusp_of({}));
}

TEST(Cusp, OfAModelMayNeedMoreWarpsThanAnSmHolds) {  // 4.5: more than the 64 warps of a GTX 680
    const auto p = gpu("gtx680");
    const auto measured = measured_needs(p, as_if("volkov-basic", p, p.max_warps));
    EXPECT_FALSE(measured.at(32).warps);
    const auto estimated = estimated_needs(find_model("volkov-basic"), p, measured, 1, kEnough);
    EXPECT_EQ(estimated.size(), measured.size());
    EXPECT_GT(estimated.at(32).warps, p.max_warps);
    const auto two_chains = estimated_needs(find_model("volkov-basic"), p, measured, 2, kEnough);
    EXPECT_NEAR(2 * *two_chains.at(32).warps, *estimated.at(32).warps, 1);
}

}  // namespace
}  // namespace gputomo::models::testing::of_cusps
