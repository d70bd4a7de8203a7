// Whether arrays and groups of lines stay resident in a simulated cache.
#include "deduce/cache/arrays/residency.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

/// 8 sets of 4 lines of 64 bytes.
struct Fixture {
    explicit Fixture(std::string policy)
        : truth{.sets = 8, .ways = 4, .policy = std::move(policy)},
          cache(truth),
          chase(cache.chase()),
          probe(Probe(chase, truth.question()).with_sector(truth.sector).over_whole_buffer()),
          residency(probe, truth.line) {}
    /// `count` lines of set 0.
    [[nodiscard]] Offsets of_one_set(std::uint64_t count) const {
        return strided(count * truth.sets * truth.line, truth.sets * truth.line);
    }
    CacheTruth truth;
    SimulatedCache cache;
    Chase chase;
    Probe probe;
    Residency residency;
};

TEST(Residency, OfAnArrayEndsAtTheCapacity) {
    for (const auto* policy : {"lru", "fifo", "random"}) {
        const Fixture f(policy);
        EXPECT_TRUE(f.residency.array_fits(f.truth.capacity())) << policy;
        EXPECT_FALSE(f.residency.array_fits(f.truth.capacity() + f.truth.line)) << policy;
    }
}

TEST(Residency, OfLinesOfOneSetEndsAtItsWays) {
    for (const auto* policy : {"lru", "random"}) {
        const Fixture f(policy);
        EXPECT_TRUE(f.residency.resident(f.of_one_set(4))) << policy;
        EXPECT_FALSE(f.residency.overflows(f.of_one_set(4))) << policy;
        EXPECT_FALSE(f.residency.resident(f.of_one_set(5))) << policy;
        EXPECT_TRUE(f.residency.overflows(f.of_one_set(5))) << policy;
    }
}

TEST(Residency, MissesOfAnArrayOneLineTooLargeAreThoseOfOneSet) {
    const Fixture f("lru");
    const auto missing = f.residency.persistent_misses(strided(f.truth.capacity() + f.truth.line, f.truth.line));
    EXPECT_EQ(missing, f.of_one_set(5));
    EXPECT_TRUE(f.residency.persistent_misses(strided(f.truth.capacity(), f.truth.line)).empty());
    EXPECT_TRUE(f.residency.persistent_misses({}).empty());
}

TEST(Residency, MissShareIsTheShareOfLoadsThatMiss) {
    const Fixture f("lru");
    // 5 of 33 lines miss in each pass.
    EXPECT_NEAR(f.residency.miss_share(strided(f.truth.capacity() + f.truth.line, f.truth.line)), 5.0 / 33, 1e-9);
    EXPECT_EQ(f.residency.miss_share(f.of_one_set(4)), 0);
}

}  // namespace
}  // namespace gputomo::deduce::cache
