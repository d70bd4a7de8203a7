// The policy of one set, from its lines to its name.
#include "deduce/cache/policy/policy.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

PolicyFinding policy_of(const CacheTruth& truth, std::uint64_t sector) {
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    Offsets lines;
    for (std::uint64_t i = 0; i <= truth.ways; ++i) lines.push_back(i * truth.sets * truth.line);
    return find_policy(Probe(chase, truth.question()), lines, {}, sector);
}

TEST(CachePolicy, IsTheOneThatTheCacheHas) {
    for (const std::string policy : {"lru", "fifo", "nru", "slru", "tree-plru", "random"}) {
        const auto found = policy_of({.ways = 8, .policy = policy}, 64);
        EXPECT_EQ(found.name, policy);
        EXPECT_GT(found.confidence, 0.7) << policy;
        ASSERT_FALSE(found.agreement.empty());
        EXPECT_TRUE(policy == "random" || found.agreement.front().first == policy) << policy;
    }
}

TEST(CachePolicy, EquivalentPoliciesAreNamedAsEvidence) {
    const auto found = policy_of({.ways = 2, .policy = "tree-plru"}, 64);
    EXPECT_EQ(found.name, "lru");
    EXPECT_EQ(found.evidence, "with 2 ways, bit-plru or tree-plru does the same");
}

TEST(CachePolicy, LinesWithoutAWordForEachVisitAreNotJudged) {
    const auto found = policy_of({.ways = 4}, 4);
    EXPECT_TRUE(found.name.empty());
    EXPECT_FALSE(found.evidence.empty());
}

}  // namespace
}  // namespace gputomo::deduce::cache
