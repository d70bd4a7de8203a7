// Random orders of a set's lines.
#include "deduce/cache/traces/access_orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace gputomo::deduce::cache {
namespace {

/// Fewest loads from one load of a line to its next one, round and round.
std::size_t closest(const LineOrder& order) {
    std::size_t least = order.size();
    for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t j = 1; j < order.size(); ++j)
            if (order[i] == order[(i + j) % order.size()]) {
                least = std::min(least, j);
                break;
            }
    return least;
}

TEST(AccessOrders, RoundsContainEachLineOnceAndKeepReturnsApart) {
    std::mt19937_64 random(1);
    for (const std::uint64_t lines : {5, 9, 17}) {
        const auto order = draw_rounds(random, lines, 6);
        ASSERT_EQ(order.size(), 6 * lines);
        for (std::uint64_t r = 0; r < 6; ++r) {
            LineOrder round(order.begin() + static_cast<std::ptrdiff_t>(r * lines),
                            order.begin() + static_cast<std::ptrdiff_t>((r + 1) * lines));
            std::ranges::sort(round);
            for (std::uint64_t i = 0; i < lines; ++i) EXPECT_EQ(round[i], i);
        }
        EXPECT_GE(closest(order), min_return_distance(lines)) << lines;
    }
}

TEST(AccessOrders, ALineReturnsAfterAQuarterOfTheLines) {
    EXPECT_EQ(min_return_distance(17), 4U);
    EXPECT_EQ(min_return_distance(3), 0U);
}

TEST(AccessOrders, SimilarRoundsMoveEachLineALittle) {
    std::mt19937_64 random(2);
    constexpr std::uint64_t kLines = 33, kRounds = 8;
    const auto order = draw_similar_rounds(random, kLines, kRounds);
    ASSERT_EQ(order.size(), kLines * kRounds);
    for (std::uint64_t r = 1; r < kRounds; ++r)
        for (std::uint64_t line = 0; line < kLines; ++line) {
            const auto place = [&](std::uint64_t round) {
                const auto begin = order.begin() + static_cast<std::ptrdiff_t>(round * kLines);
                return std::find(begin, begin + kLines, line) - begin;
            };
            EXPECT_LE(std::abs(place(r) - place(r - 1)), 2 * 33 / 10) << "line " << line;
        }
}

TEST(AccessOrders, VisitsAreBetweenTheLeastAndTheMost) {
    std::mt19937_64 random(3);
    const auto order = draw_visits(random, 40, 2, 5);
    for (std::uint64_t line = 0; line < 40; ++line) {
        const auto visits = std::ranges::count(order, line);
        EXPECT_GE(visits, 2);
        EXPECT_LE(visits, 5);
    }
    EXPECT_EQ(draw_visits(random, 7, 3, 3).size(), 21U);
    EXPECT_FALSE(std::ranges::is_sorted(order));
}

}  // namespace
}  // namespace gputomo::deduce::cache
