// QuickXplain on properties whose minimal subset is known.
#include "deduce/cache/sets/minimal_subset.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace gputomo::deduce::cache {
namespace {

std::vector<int> numbers(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

TEST(MinimalSubset, KeepsExactlyTheNeededElementsInTheirOrder) {
    const std::vector<int> needed{3, 40, 41, 99};
    const auto suffices = [&](const std::vector<int>& some) {
        return std::ranges::all_of(needed, [&](int n) { return std::ranges::find(some, n) != some.end(); });
    };
    EXPECT_EQ(minimal_subset(numbers(100), suffices), needed);
}

TEST(MinimalSubset, OfEqualElementsKeepsAsManyAsTheCountNeeds) {
    const auto five = [](const std::vector<int>& some) { return some.size() >= 5; };
    EXPECT_EQ(minimal_subset(numbers(64), five).size(), 5U);
    EXPECT_EQ(minimal_subset(numbers(5), five), numbers(5));
}

TEST(MinimalSubset, OfTwoReasonsKeepsOne) {
    const auto has = [](const std::vector<int>& some, int n) { return std::ranges::find(some, n) != some.end(); };
    const auto either = [&](const std::vector<int>& some) {
        return (has(some, 2) && has(some, 7)) || (has(some, 11) && has(some, 12));
    };
    const auto kept = minimal_subset(numbers(16), either);
    EXPECT_TRUE((kept == std::vector<int>{2, 7}) || (kept == std::vector<int>{11, 12}));
}

TEST(MinimalSubset, AsksAboutTwiceTheElementsTimesTheLogarithmOfTheRest) {
    int calls = 0;
    const auto suffices = [&](const std::vector<int>& some) {
        ++calls;
        return std::ranges::count_if(some, [](int n) { return n % 256 == 17; }) == 4;
    };
    EXPECT_EQ(minimal_subset(numbers(1024), suffices), (std::vector<int>{17, 273, 529, 785}));
    EXPECT_LE(calls, 2 * 4 * 8 + 2 * 4) << "k = 4, n / k = 256";
}

}  // namespace
}  // namespace gputomo::deduce::cache
