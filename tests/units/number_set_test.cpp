#include "units/number_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace gputomo {
namespace {

using ::testing::ElementsAre;

TEST(NumberSet, KeepsNumbersInTheirOrderAndEachOnce) {
    NumberSet set;
    EXPECT_TRUE(set.insert(7));
    EXPECT_TRUE(set.insert(0));
    EXPECT_FALSE(set.insert(7));
    EXPECT_EQ(set.place(~std::uint64_t{0}), 2);
    EXPECT_EQ(set.find(0), 1);
    EXPECT_EQ(set.find(1), NumberSet::kNone);
    EXPECT_THAT(std::vector(set.begin(), set.end()), ElementsAre(7, 0, ~std::uint64_t{0}));
}

TEST(NumberSet, IsEmptyAgainAfterClear) {
    NumberSet set{1, 2, 3};
    set.clear();
    EXPECT_TRUE(set.empty());
    EXPECT_FALSE(set.contains(2));
    EXPECT_TRUE(set.insert(2));
}

TEST(NumberSet, HoldsWhatASetOfNodesHolds) {
    std::mt19937_64 random(3);
    NumberSet set, other;
    std::set<std::uint64_t> expected;
    for (int i = 0; i < 20'000; ++i) {
        // Neighbouring sectors, and multiples of a large power of two, whose hashes have equal low bits.
        const std::uint64_t number = i % 2 == 0 ? random() % 10'000 : (random() % 500) << 48;
        EXPECT_EQ(set.insert(number), expected.insert(number).second);
        if (i % 3 == 0) other.insert(number + 1), expected.insert(number + 1), set.insert(number + 1);
    }
    set.insert(other);
    EXPECT_EQ(set.size(), expected.size());
    EXPECT_EQ(std::set(set.begin(), set.end()), expected);
    for (std::uint64_t number = 0; number < 11'000; ++number)
        EXPECT_EQ(set.contains(number), expected.contains(number)) << number;
}

}  // namespace
}  // namespace gputomo
