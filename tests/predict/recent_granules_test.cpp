#include "predict/launch/recent_granules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <random>
#include <utility>

namespace gputomo::predict {
namespace {

TEST(RecentGranules, KeepWhatAListOfTheMostRecentOnesKeeps) {
    constexpr std::size_t kCapacity = 40;
    RecentGranules cache(kCapacity);
    std::list<std::pair<std::uint64_t, double>> expected;
    std::mt19937_64 random(9);
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t granule = random() % 60 << (i % 3 == 0 ? 32 : 0);
        double* const found = cache.find(granule);
        const auto known = std::ranges::find(expected, granule, &std::pair<std::uint64_t, double>::first);
        ASSERT_EQ(found != nullptr, known != expected.end()) << i;
        if (found != nullptr) {
            ASSERT_EQ(*found, known->second) << i;
            expected.splice(expected.begin(), expected, known);
            continue;
        }
        cache.insert(granule, i);
        expected.emplace_front(granule, i);
        if (expected.size() > kCapacity) expected.pop_back();
    }
}

TEST(RecentGranules, KeepNothingWithoutRoom) {
    for (const double capacity : {0.0, -1.0, 0.5}) {
        RecentGranules cache(capacity);
        cache.insert(1, 2);
        EXPECT_EQ(cache.find(1), nullptr) << capacity;
    }
}

TEST(RecentGranules, StayApartFromTheirCopy) {
    RecentGranules cache(2);
    cache.insert(1, 10);
    RecentGranules copy = cache;
    copy.insert(2, 20);
    copy.insert(3, 30);
    EXPECT_EQ(copy.find(1), nullptr);
    ASSERT_NE(cache.find(1), nullptr);
    EXPECT_EQ(*cache.find(1), 10);
}

}  // namespace
}  // namespace gputomo::predict
