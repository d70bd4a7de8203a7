#include "launch/profile/sampled_blocks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace gputomo::launch {
namespace {

/// 16 of 100 blocks, which execute the same and load 10 or 14 sectors.
LaunchProfile differing_loads() {
    LaunchProfile profile;
    profile.blocks = 100;
    for (std::uint64_t block = 0; block < 16; ++block)
        profile.sampled.push_back(
            {.block = block, .instructions = 40, .load_sectors = block % 2 == 0 ? 10.0 : 14.0, .store_sectors = 4});
    return profile;
}

TEST(SampledBlocks, NameTheCountThatIsKnownLeast) {
    auto profile = differing_loads();
    // The standard deviation of 16 values, of which each is 2 off, is 2 * sqrt(16 / 15).
    EXPECT_NEAR(error_of(profile).error, 2 / std::sqrt(15.0) / 12, 1e-12);
    EXPECT_EQ(error_of(profile).of, "loaded sectors");
    profile.sampled.front().instructions = 4000;
    EXPECT_EQ(error_of(profile).of, "executed instructions");
}

TEST(SampledBlocks, AreKnownWhereAllWereExecuted) {
    auto profile = differing_loads();
    profile.blocks = profile.sampled.size();
    EXPECT_EQ(error_of(profile).error, 0);
    profile.blocks = 100;
    profile.sampled.resize(1);
    EXPECT_EQ(error_of(profile).error, 1) << "one block tells nothing of others";
}

}  // namespace
}  // namespace gputomo::launch
