// How policies explain traces of a set whose policy is known.
#include "deduce/cache/policy/eviction_trace.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gputomo::deduce::cache {
namespace {

using testing::policy_model;
using testing::random_lines;
using testing::trace_of;

constexpr std::uint32_t kWays = 4;

TraceSegment trace(const std::string& policy) {
    return trace_of(*policy_model(policy, kWays), kWays, random_lines(kWays, 600));
}

TEST(EvictionTrace, APolicyExplainsEveryVictimOfItsOwnTrace) {
    for (const std::string policy : {"lru", "fifo", "nru", "srrip", "slru"}) {
        const auto segment = trace(policy);
        const auto own = explain(segment, kWays, *make_model(policy, kWays), 0.001);
        EXPECT_GT(own.victims, 30) << policy;
        EXPECT_EQ(own.explained, own.victims) << policy;
        for (const std::string other : {"lru", "fifo"}) {
            if (other == policy) continue;
            const auto wrong = explain(segment, kWays, *make_model(other, kWays), 0.001);
            EXPECT_LT(wrong.likelihood, own.likelihood - 20) << policy << " is not " << other;
        }
    }
}

TEST(EvictionTrace, StepsNameTheEvictedWays) {
    // Line 4 misses, then line 0, which must have been its victim, and so on: FIFO order.
    TraceSegment segment{.lines = {4, 0, 1, 2, 3}, .missed = {true, true, true, true, true}, .outlier = {}};
    segment.outlier.assign(5, false);
    const auto found = explain(segment, kWays, *make_model("lru", kWays), 0.001);
    ASSERT_EQ(found.steps.size(), 4U) << "the victim of the last miss is not known";
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_TRUE(found.steps[i].evicted);
        EXPECT_EQ(found.steps[i].load, i);
        EXPECT_EQ(found.steps[i].way, i);
    }
}

TEST(EvictionTrace, AnOutlierAmongHitsIsReadAsOne) {
    auto segment = trace("lru");
    const auto clean = explain(segment, kWays, *make_model("lru", kWays), 0.01);
    // Loads of a line that was used just before hit.
    int added = 0;
    for (std::size_t i = 1; i < segment.lines.size() && added < 5; ++i)
        if (segment.lines[i] == segment.lines[i - 1] && !segment.missed[i]) segment.missed[i] = true, ++added;
    ASSERT_EQ(added, 5);
    const auto noisy = explain(segment, kWays, *make_model("lru", kWays), 0.01);
    EXPECT_EQ(noisy.victims, clean.victims);
    EXPECT_EQ(noisy.explained, noisy.victims);
}

TEST(EvictionTrace, ATraceWithoutMissesExplainsNothing) {
    TraceSegment segment{.lines = {0, 1, 2}, .missed = {false, false, false}, .outlier = {false, false, false}};
    const auto found = explain(segment, kWays, *make_model("lru", kWays), 0.01);
    EXPECT_EQ(found.victims, 0);
    EXPECT_TRUE(found.steps.empty());
}

TEST(EvictionTrace, AVictimIsAsLikelyAsItsOddsAndAShareOfChance) {
    EXPECT_DOUBLE_EQ(likelihood_of_victim(1, 4), std::log(0.98 + 0.005));
    EXPECT_DOUBLE_EQ(likelihood_of_victim(0, 4), std::log(0.005));
    EXPECT_DOUBLE_EQ(likelihood_of_victim(0, 4, 0.4), std::log(0.1));
}

TEST(EvictionTrace, APartialModelIsForgivenItsWrongVictims) {
    const auto segment = trace("fifo");
    const auto strict = explain(segment, kWays, *make_model("lru", kWays), 0.001);
    const auto partial = explain_with_partial_model(segment, kWays, *make_model("lru", kWays), 0.001);
    EXPECT_GT(partial.likelihood, strict.likelihood);
}

TEST(EvictionTrace, TheOrderOfTiedWaysIsLearnt) {
    // NRU that takes the first free way in the order 2, 0, 3, 1.
    const std::vector<std::uint32_t> order{2, 0, 3, 1};
    const auto model = make_model("nru", kWays);
    std::vector<Step> steps;
    for (std::size_t i = 0; i < 400; ++i) {
        const auto way = *std::ranges::find_if(order, [&](std::uint32_t w) { return model->odds(w) > 0; });
        steps.push_back({i, way, true});
        model->fill(way);
    }
    const auto learnt = learn_way_order(steps, kWays, *make_model("nru", kWays));
    EXPECT_EQ(learnt.place_of_way, (std::vector<std::uint32_t>{1, 3, 0, 2}));
    EXPECT_NEAR(learnt.cost, std::log(24.0), 1e-12) << "one of 4! orders";
}

}  // namespace
}  // namespace gputomo::deduce::cache
