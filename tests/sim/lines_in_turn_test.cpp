// Lines that come one after the other: of one load of constants, and of loads of all SMs for one line.
#include "costs/constant_lines.hpp"
#include "sim/memory/shared_lines.hpp"

#include <gtest/gtest.h>

namespace gputomo {
namespace {

constexpr double kHit = 28, kBehind = 100;
constexpr costs::ConstantLineSpec kConstants{.hit = kHit, .behind = kBehind, .line_bytes = 64};

TEST(ConstantLines, ThatAreMissedComeOneAfterTheOther) {
    costs::ConstantLines lines(kConstants);
    for (std::uint64_t lane = 0; lane < 32; ++lane)
        EXPECT_EQ(lines.there(64 * lane, 1000, 1000 + kBehind),
                  1000 + kBehind + static_cast<double>(lane) * (kBehind - kHit));
}

TEST(ConstantLines, ThatAreThereWaitForThoseBeforeThem) {
    costs::ConstantLines lines(kConstants);
    EXPECT_EQ(lines.there(0, 0, kHit), kHit) << "nothing is missed yet";
    EXPECT_EQ(lines.there(64, 0, kBehind), kBehind);
    EXPECT_EQ(lines.there(0, 0, kHit), kBehind) << "behind the missing line";
    EXPECT_EQ(lines.there(96, 0, kBehind), kBehind) << "another word of the missing line";
    EXPECT_EQ(lines.there(128, 0, 900), 900) << "a line from memory";
    EXPECT_EQ(lines.there(192, 0, 40), 2 * (kBehind - kHit) + kHit) << "a line that is nearly there";
}

TEST(ConstantLines, DoNotWaitWhereNoSecondCacheIsDescribed) {
    costs::ConstantLines lines(costs::constant_line_spec_of({}));
    EXPECT_EQ(lines.there(0, 0, kBehind), kBehind);
    EXPECT_EQ(lines.there(64, 0, kBehind), kBehind);
}

constexpr std::size_t kParts = 4;
constexpr double kCyclesPerByte = 1.0 / 128;

TEST(SharedLines, ServeOneSmAfterTheOther) {
    sim::SharedLines lines(kParts, kCyclesPerByte);
    for (std::uint32_t sm = 0; sm < 8; ++sm)
        EXPECT_DOUBLE_EQ(lines.serve(1, 77, sm, 64, 0), sm == 0 ? 0 : 2.0 * (sm - 1))
            << "64 bytes at a quarter of 128 bytes a cycle";
}

TEST(SharedLines, LetOthersPass) {
    sim::SharedLines lines(kParts, kCyclesPerByte);
    for (int again = 0; again < 4; ++again) EXPECT_EQ(lines.serve(1, 77, 0, 64, 0), 0) << "of one SM";
    for (std::uint32_t sm = 0; sm < 4; ++sm) EXPECT_EQ(lines.serve(1, 100 + sm, sm, 64, 0), 0) << "of other lines";
    EXPECT_EQ(lines.serve(1, 77, 1, 64, 5000), 5000) << "much later";
}

TEST(SharedLines, AreNotThereWithoutABandwidth) { EXPECT_FALSE(sim::SharedLines(kParts, 0).described()); }

}  // namespace
}  // namespace gputomo
