// Traces of one set, recorded through a chase.
#include "deduce/cache/traces/set_recorder.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

Offsets lines_of(const CacheTruth& truth, std::uint64_t set, std::uint64_t count) {
    Offsets lines;
    for (std::uint64_t i = 0; i < count; ++i) lines.push_back((i * truth.sets + set) * truth.line);
    return lines;
}

/// Misses of an LRU set when these lines are loaded; what it held before is not known.
void expect_lru(const TraceSegment& segment, std::size_t ways) {
    std::vector<std::uint32_t> held;
    for (std::size_t i = 0; i < segment.lines.size(); ++i) {
        const auto at = std::ranges::find(held, segment.lines[i]);
        const bool known = held.size() == ways || at != held.end();
        EXPECT_TRUE(!known || segment.missed[i] == (at == held.end())) << "load " << i;
        if (at != held.end()) held.erase(at);
        held.push_back(segment.lines[i]);
        if (held.size() > ways) held.erase(held.begin());
    }
}

TEST(SetRecorder, RecordsTheMissesOfTheSet) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    SetRecorder recorder(Probe(chase, truth.question()), lines_of(truth, 3, 5), {}, truth.line);
    EXPECT_EQ(recorder.visits(), 8U) << "a line of 64 bytes has eight words";
    for (std::size_t number = 0; number < 4; ++number) {
        const auto run = recorder.record(800, number);
        ASSERT_EQ(run.segments.size(), 1U);
        EXPECT_EQ(run.segments[0].lines.size() % run.pass_loads, 0U);
        EXPECT_GE(run.segments[0].lines.size(), 800 - run.pass_loads);
        EXPECT_GT(std::ranges::count(run.segments[0].missed, true), 0);
        expect_lru(run.segments[0], 4);
    }
}

TEST(SetRecorder, FillerLinesAreLoadedButNotRecorded) {
    const CacheTruth truth{.ways = 8};
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const auto filler = lines_of(truth, 5, 4);
    SetRecorder recorder(Probe(chase, truth.question()), lines_of(truth, 3, 9), filler, truth.line);
    const auto before = cache.loads;
    const auto run = recorder.record(900, 0);
    EXPECT_LE(std::ranges::max(run.segments[0].lines), 8U);
    EXPECT_EQ(run.pass_loads, 9 * recorder.visits());
    EXPECT_GE(cache.loads - before, 3 * run.segments[0].lines.size()) << "two fillers after each line";
    expect_lru(run.segments[0], 8);
}

TEST(SetRecorder, OneOutlierInFiftyIsTakenForMissLike) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    std::size_t readings = 0;
    const Chase chase = [&](const ChaseRequest& request) {
        auto trace = cache(request);
        for (auto& latency : trace.latencies)
            if (++readings % 100 == 0) latency = 5000;
        return trace;
    };
    SetRecorder recorder(Probe(chase, truth.question()), lines_of(truth, 0, 5), {}, truth.line);
    const double unknown = recorder.miss_like_outlier_rate();
    EXPECT_NEAR(unknown, 0.01, 0.0005);
    static_cast<void>(recorder.record(4000, 3));
    EXPECT_LT(recorder.miss_like_outlier_rate(), unknown / 5) << "5000 cycles are no miss";
    EXPECT_GE(recorder.miss_like_outlier_rate(), unknown / 50);
}

}  // namespace
}  // namespace gputomo::deduce::cache
