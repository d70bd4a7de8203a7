// Patterns of leaves and the paths that they fit.
#include "units/pattern.hpp"

#include <gtest/gtest.h>

namespace gputomo {
namespace {

TEST(Pattern, WithoutStarsFitsItselfOnly) {
    EXPECT_TRUE(fits_pattern("clock.sm_mhz", "clock.sm_mhz"));
    EXPECT_FALSE(fits_pattern("clock.sm_mhz", "clock.sm_mhz2"));
    EXPECT_FALSE(fits_pattern("clock.sm_mhz", "clock.sm"));
}

TEST(Pattern, AStarStandsForAnyCharacters) {
    EXPECT_TRUE(fits_pattern("caches.*.latency", "caches.l1.latency"));
    EXPECT_FALSE(fits_pattern("caches.*.latency", "caches.l1.latency_range"));
    EXPECT_FALSE(fits_pattern("caches.*.latency", "tlbs.l1.latency"));
    EXPECT_TRUE(fits_pattern("operations[*].latency", "operations[add.f32].latency"));
    EXPECT_FALSE(fits_pattern("operations[*].latency", "operations[add.f32].throughput"));
    EXPECT_TRUE(fits_pattern("caches.l2.latency*", "caches.l2.latency")) << "none is enough";
    EXPECT_FALSE(fits_pattern("ab*ba", "aba")) << "what stands before and after it does not overlap";
}

TEST(Pattern, MayHaveSeveralStars) {
    EXPECT_TRUE(fits_pattern("*.l2.*", "caches.l2.latency"));
    EXPECT_FALSE(fits_pattern("*.l2.*", "caches.l1.latency"));
    EXPECT_TRUE(fits_pattern("a*b*b", "abbb"));
}

}  // namespace
}  // namespace gputomo
