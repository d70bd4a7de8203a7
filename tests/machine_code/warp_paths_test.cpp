// Threads of a warp that wait for each other at WARPSYNC.
#include "sim/machine_code/paths.hpp"

#include <gtest/gtest.h>

namespace gputomo::sim::machine_code {
namespace {

constexpr std::array<Warp::Row, 16> kNoConvergence{};
constexpr std::uint32_t kLow = 0xffff, kHigh = 0xffff0000;

TEST(WarpPaths, WithOtherMembersGoOnByThemselves) {
    Paths paths(~0U);
    paths.split(kHigh, 10);
    paths.wait(Path::State::warp_barrier, 0, kLow, 11);
    paths.rotate();
    ASSERT_EQ(paths.current()->mask, kHigh);
    paths.wait(Path::State::warp_barrier, 0, kHigh, 11);
    paths.release(kNoConvergence);
    ASSERT_EQ(paths.all().size(), 2U) << "one instruction after the other sees one group";
    EXPECT_EQ(paths.all()[0].mask | paths.all()[1].mask, ~0U);
}

TEST(WarpPaths, WithTheSameMembersGoOnTogether) {
    Paths paths(~0U);
    paths.split(kHigh, 10);
    paths.wait(Path::State::warp_barrier, 0, ~0U, 11);
    paths.release(kNoConvergence);
    ASSERT_EQ(paths.current()->mask, kHigh) << "the others wait";
    paths.wait(Path::State::warp_barrier, 0, ~0U, 11);
    paths.release(kNoConvergence);
    ASSERT_EQ(paths.all().size(), 1U);
    EXPECT_EQ(paths.current()->mask, ~0U);
}

}  // namespace
}  // namespace gputomo::sim::machine_code
