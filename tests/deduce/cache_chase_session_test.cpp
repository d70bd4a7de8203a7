// Budget, outlier rate and miss latencies of a deduction's chases.
#include "deduce/cache/chase/chase_session.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce::cache {
namespace {

constexpr CacheQuestion kQuestion{.threshold = 200, .fits = 4096, .overflows = 16384, .buffer_bytes = 65536};

/// Every n-th reading is slow; 0: none.
struct SlowEvery {
    std::size_t n = 0;
    double slow = 1000;
    std::size_t readings = 0, requests = 0;
    ChaseTrace operator()(const ChaseRequest& request) {
        ++requests;
        ChaseTrace trace;
        for (std::size_t i = 0; i < request.offsets.size() * request.recorded_passes; ++i)
            trace.latencies.push_back(n > 0 && ++readings % n == 0 ? slow : 100);
        return trace;
    }
};

TEST(ChaseSession, RefusesASequenceBeyondItsBudgetBeforeAnyLoad) {
    SlowEvery memory;
    const Chase chase = std::ref(memory);
    ChaseSession session(chase, kQuestion);
    session.set_load_limit(29);
    EXPECT_THROW(static_cast<void>(session.run({strided(640, 64), 1, 2})), BudgetExhausted);
    EXPECT_EQ(memory.requests, 0U);
    EXPECT_EQ(session.loads(), 0U);
    session.set_load_limit(30);
    EXPECT_EQ(session.run({strided(640, 64), 1, 2}).latencies.size(), 20U);
    EXPECT_EQ(session.loads(), 30U);
    EXPECT_EQ(session.loads_left(), 0U);
}

TEST(ChaseSession, KeepsTheFirstOfSeveralLoadsOfALine) {
    const Chase chase = [](const ChaseRequest&) { return ChaseTrace{{1, 2, 3, 4, 5, 6}}; };
    ChaseSession session(chase, kQuestion);
    EXPECT_EQ(session.run({{0, 8, 64, 72, 128, 136}, 0, 1}, 2).latencies, (std::vector<double>{1, 3, 5}));
}

TEST(ChaseSession, MeasuresTheOutlierRateOnce) {
    SlowEvery memory{.n = 128};
    const Chase chase = std::ref(memory);
    ChaseSession session(chase, kQuestion);
    EXPECT_DOUBLE_EQ(session.outlier_rate(0), 1 / 128.0);
    EXPECT_EQ(session.outliers_seen(), 128U);
    EXPECT_DOUBLE_EQ(session.outlier_rate(0), 1 / 128.0);
    EXPECT_EQ(memory.requests, 1U);
}

TEST(ChaseSession, ARateOfOutliersThatNoHitsHaveIsCutOff) {
    SlowEvery memory{.n = 2};
    const Chase chase = std::ref(memory);
    EXPECT_DOUBLE_EQ(ChaseSession(chase, kQuestion).outlier_rate(0), 0.05);
}

TEST(ChaseSession, OutliersUnlikeTheMissesAreNotCountedAsMissLike) {
    SlowEvery memory{.n = 128, .slow = 5000};
    const Chase chase = std::ref(memory);
    ChaseSession session(chase, kQuestion);
    // Nothing is known about misses yet.
    EXPECT_DOUBLE_EQ(session.miss_like_outlier_rate(0), 1 / 128.0);
    memory.n = 1;
    memory.slow = 300;
    static_cast<void>(session.run({strided(65536, 64), 0, 1}));
    EXPECT_TRUE(session.miss_latencies().known());
    EXPECT_DOUBLE_EQ(session.miss_like_outlier_rate(0), 1 / 16384.0) << "one is always allowed for";
}

TEST(ChaseSession, TheStrideOfAnUnfilteredLevelIsAWord) {
    const Chase chase = [](const ChaseRequest&) { return ChaseTrace{}; };
    EXPECT_EQ(ChaseSession(chase, {.word = 32}).question().probe_stride, 32U);
    EXPECT_EQ(ChaseSession(chase, {.word = 32, .probe_stride = 128}).question().probe_stride, 128U);
}

}  // namespace
}  // namespace gputomo::deduce::cache
