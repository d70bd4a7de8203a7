// The shipped description of the GTX 280 gives back the latencies that Wong 2010 published.
#include "machine/json.hpp"
#include "memory_fixture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace gputomo::sim::test {
namespace {

machine::Machine gtx280() {
    return machine::load(std::filesystem::path(GPUTOMO_SOURCE_DIR) / "machines" / "gtx280.json");
}

/// Latency of the second pass over `count` addresses `stride` apart, or -1 where it is not the same for all.
double second_pass(Rig& rig, PathKind path, std::uint64_t count, std::uint64_t stride, std::uint64_t base = 0) {
    double common = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (std::uint64_t i = 0; i < count; ++i) {
            const double latency = rig.latency({.address = base + i * stride, .bytes = 4, .sm = 0, .path = path});
            if (pass == 1) common = i == 0 || common == latency ? latency : -1;
        }
    return common;
}

TEST(Gtx280, GlobalMemoryTakes440CyclesOnAverageWithinTheTlb) {
    double sum = 0;
    Rig rig(gtx280());
    for (std::uint32_t sm = 0; sm < 30; ++sm) {
        rig.load(0, sm);
        const double latency = rig.load(4, sm);
        EXPECT_GE(latency, 436);
        EXPECT_LE(latency, 443);
        sum += latency;
    }
    EXPECT_EQ(std::llround(sum / 30), 440);
}

TEST(Gtx280, GlobalTlbsReach8And32Megabytes) {
    constexpr std::uint64_t kMegabyte = 1 << 20;
    Rig rig(gtx280());
    const double hit = second_pass(rig, PathKind::global, 16, kMegabyte / 2);
    EXPECT_EQ(second_pass(rig, PathKind::global, 64, kMegabyte / 2, std::uint64_t{1} << 30), hit + 47)
        << "32 MB: the second level holds all";
    // 17 addresses that share a set of the 16-way first level and of the 8-way second level.
    EXPECT_EQ(second_pass(rig, PathKind::global, 17, 4 * kMegabyte, std::uint64_t{1} << 32), hit + 47 + 211);
}

TEST(Gtx280, TextureAndConstantCachesTakeThePublishedLatencies) {
    Rig rig(gtx280());
    constexpr double kNearest = 4;  ///< cycles by which levels of the whole GPU are nearer to SM 0 than on average
    EXPECT_EQ(second_pass(rig, PathKind::texture, 160, 32), 261);
    EXPECT_EQ(second_pass(rig, PathKind::texture, 1024, 256), 371 - kNearest);
    EXPECT_EQ(second_pass(rig, PathKind::constant, 32, 64), 8);
    EXPECT_EQ(second_pass(rig, PathKind::constant, 32, 256), 81);
    EXPECT_EQ(second_pass(rig, PathKind::constant, 128, 256), 220 - kNearest);
    EXPECT_EQ(second_pass(rig, PathKind::constant, 256, 256), 476 - kNearest);
}

}  // namespace
}  // namespace gputomo::sim::test
