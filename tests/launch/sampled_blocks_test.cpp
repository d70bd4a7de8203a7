// What the blocks that were executed tell of the others.
#include "launch/profile/sampled_blocks.hpp"

#include <gtest/gtest.h>

namespace gputomo::launch {
namespace {

constexpr std::uint64_t kFourSms = 4;

/// A grid of one wave: six blocks on four SMs. SM 1, which has blocks 1 and 5, executes most.
LaunchProfile of_one_wave() {
    LaunchProfile profile;
    profile.blocks = 6;
    profile.resident_blocks = 2;
    for (const std::uint64_t block : {0, 1, 2, 3, 4, 5})
        profile.sampled.push_back({.block = block, .instructions = block == 5 ? 40.0 : 20.0});
    profile.sms.resize(1);
    profile.sms[0].push_back({.block = 0});
    profile.sms[0].push_back({.block = 4});
    return profile;
}

TEST(SampledBlocks, TellWhichSmExecutesMost) { EXPECT_EQ(much_busier_sm(of_one_wave(), kFourSms), 1U); }

TEST(SampledBlocks, NameNoSmWhereARecordedOneExecutesAsMuch) {
    LaunchProfile profile = of_one_wave();
    profile.sampled[5].instructions = 21;
    EXPECT_EQ(much_busier_sm(profile, kFourSms), std::nullopt);
    profile = of_one_wave();
    profile.sms[0][0].block = 1;
    EXPECT_EQ(much_busier_sm(profile, kFourSms), std::nullopt);
}

TEST(SampledBlocks, NameNoSmWhereBlocksAreUnknownOrGoWhereAnSmIsFree) {
    LaunchProfile profile = of_one_wave();
    profile.sampled.pop_back();
    EXPECT_EQ(much_busier_sm(profile, kFourSms), std::nullopt) << "block 5 was not executed";
    profile = of_one_wave();
    profile.resident_blocks = 1;
    EXPECT_EQ(much_busier_sm(profile, kFourSms), std::nullopt) << "two waves";
}

}  // namespace
}  // namespace gputomo::launch
