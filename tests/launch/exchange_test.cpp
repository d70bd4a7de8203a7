// Blocks that load what other blocks write, by sets of sectors whose share is counted by hand.
#include "launch/profile/exchange.hpp"

#include <gtest/gtest.h>

namespace gputomo::launch {
namespace {

constexpr std::uint64_t kSector = 32;

/// Two buffers of 100 sectors: 0 to 99 and 200 to 299.
Exchange of_two_buffers() { return Exchange({{200 * kSector, 100 * kSector}, {0, 100 * kSector}}); }

TEST(ProfileExchange, ReadingOneBufferAndWritingAnotherIsNone) {
    Exchange exchange = of_two_buffers();
    exchange.add({0, 1, 2, 50, 99}, {200, 201});
    exchange.add({0, 3, 4, 51}, {298, 299});
    EXPECT_EQ(exchange.share(), 0);
    EXPECT_EQ(of_two_buffers().share(), 0);
}

TEST(ProfileExchange, UpdatingOwnSectorsIsNone) {
    Exchange exchange = of_two_buffers();
    exchange.add({0, 1, 2, 3}, {0, 3});
    exchange.add({50, 51}, {50, 51});
    EXPECT_EQ(exchange.share(), 0);
}

TEST(ProfileExchange, LoadsAmongTheSectorsOfOtherBlocksCount) {
    Exchange exchange = of_two_buffers();
    exchange.add({0, 40, 80, 200}, {0, 1});     // 40 lies among those of both blocks, 80 does not
    exchange.add({50, 10, 30, 299}, {49, 51});  // 10 and 30 lie before its own
    EXPECT_EQ(exchange.share(), 3 / 8.0);
}

}  // namespace
}  // namespace gputomo::launch
