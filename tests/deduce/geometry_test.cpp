#include "deduce/cache/geometry/geometry.hpp"
#include "units/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

namespace gputomo::deduce {
namespace {

/// A memory path whose structure the deduction does not know: one cache above memory, with noise.
struct Truth {
    std::uint64_t line = 64, sector = 64, ways = 4, sets = 16;
    std::string policy = "lru";
    double hit = 100, miss = 300;
    double outliers = 0, jitter = 0;
    bool hashed = false;
    [[nodiscard]] std::uint64_t capacity() const { return line * ways * sets; }
};

class Oracle {
public:
    Oracle(const Truth& truth, std::uint64_t seed) : t_(truth), sets_(truth.sets), random_(seed) {}

    ChaseTrace operator()(const ChaseRequest& request) {
        ChaseTrace trace;
        for (std::uint32_t pass = 0; pass < request.warm_passes + request.recorded_passes; ++pass)
            for (const auto offset : request.offsets) {
                double latency = access(offset) ? t_.hit : t_.miss;
                if (t_.jitter > 0) latency += std::abs(std::normal_distribution<double>(0, t_.jitter)(random_));
                if (uniform() < t_.outliers) latency += 1000;
                if (pass >= request.warm_passes) trace.latencies.push_back(latency);
            }
        loads += (request.warm_passes + request.recorded_passes) * request.offsets.size();
        return trace;
    }
    std::uint64_t loads = 0;

private:
    struct Line {
        std::uint64_t number = 0, stamp = 0;
        std::vector<bool> sectors;
    };
    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    bool access(std::uint64_t address) {
        const std::uint64_t number = address / t_.line, sector = address % t_.line / t_.sector;
        auto& set = sets_[(t_.hashed ? (number * 0x9E3779B97F4A7C15ULL) >> 32 : number) % t_.sets];
        auto found = std::find_if(set.begin(), set.end(), [&](const Line& l) { return l.number == number; });
        if (found == set.end()) {
            if (set.size() == t_.ways)
                set.erase(t_.policy == "random"
                              ? set.begin() + static_cast<std::ptrdiff_t>(random_() % set.size())
                              : std::min_element(set.begin(), set.end(),
                                                 [](const Line& a, const Line& b) { return a.stamp < b.stamp; }));
            set.push_back({number, ++now_, std::vector<bool>(t_.line / t_.sector, false)});
            found = set.end() - 1;
        } else if (t_.policy == "lru") {
            found->stamp = ++now_;
        }
        const bool hit = found->sectors[sector];
        found->sectors[sector] = true;
        return hit;
    }
    Truth t_;
    std::vector<std::vector<Line>> sets_;
    std::uint64_t now_ = 0;
    std::mt19937_64 random_;
};

CacheFindings deduce(const Truth& truth, std::uint64_t seed = 1) {
    Oracle oracle(truth, seed);
    const Chase chase = [&](const ChaseRequest& r) {
        // On a GPU a chase is a list of addresses, so that no address can appear twice.
        EXPECT_EQ(std::set(r.offsets.begin(), r.offsets.end()).size(), r.offsets.size());
        return oracle(r);
    };
    return deduce_geometry(chase, {.threshold = (truth.hit + truth.miss) / 2,
                                   .fits = truth.capacity() / 2,
                                   .overflows = truth.capacity() * 2,
                                   .buffer_bytes = truth.capacity() * 32});
}

void expect_exact(const Truth& truth, const CacheFindings& found) {
    EXPECT_EQ(found.capacity.value, static_cast<std::int64_t>(truth.capacity()));
    EXPECT_EQ(found.line.value, static_cast<std::int64_t>(truth.line));
    EXPECT_EQ(found.sector.value, static_cast<std::int64_t>(truth.sector));
    EXPECT_EQ(found.ways.value, static_cast<std::int64_t>(truth.ways));
    EXPECT_EQ(found.sets.value, static_cast<std::int64_t>(truth.sets));
    EXPECT_EQ(found.policy.name, truth.policy);
}

TEST(Geometry, FindsWongsExampleCacheOfTwelveLines) {
    expect_exact({.line = 32, .sector = 32, .ways = 3, .sets = 4},
                 deduce({.line = 32, .sector = 32, .ways = 3, .sets = 4}));
}

TEST(Geometry, FindsTheTextureL1OfTheGt200) {
    expect_exact({.line = 32, .sector = 32, .ways = 20, .sets = 8},
                 deduce({.line = 32, .sector = 32, .ways = 20, .sets = 8}));
}

TEST(Geometry, DistinguishesSectorsFromLines) {
    expect_exact({.line = 128, .sector = 32, .ways = 4, .sets = 32},
                 deduce({.line = 128, .sector = 32, .ways = 4, .sets = 32}));
}

TEST(Geometry, DistinguishesFifoAndRandomFromLru) {
    for (const auto* policy : {"fifo", "random"}) {
        const Truth truth{.line = 64, .sector = 64, .ways = 8, .sets = 16, .policy = policy};
        expect_exact(truth, deduce(truth));
    }
}

TEST(Geometry, FindsSetsThatAreNoPowerOfTwo) {
    expect_exact({.line = 64, .sector = 64, .ways = 5, .sets = 12},
                 deduce({.line = 64, .sector = 64, .ways = 5, .sets = 12}));
}

TEST(Geometry, FindsOneSetInAFullyAssociativeCache) {
    expect_exact({.line = 64, .sector = 64, .ways = 16, .sets = 1},
                 deduce({.line = 64, .sector = 64, .ways = 16, .sets = 1}));
}

/// A chase whose own code is read with each load. Arrays that start at offset 0 contain it; other loads lie after it.
CacheFindings deduce_beside_code(const Truth& truth, std::uint64_t code) {
    Oracle oracle(truth, 1);
    const Chase chase = [&](const ChaseRequest& r) {
        const bool dense = r.offsets.size() > 1 && r.offsets[0] == 0 && r.offsets[1] <= 2 * code;
        ChaseRequest all{{}, r.warm_passes, r.recorded_passes};
        for (const auto offset : r.offsets) {
            for (std::uint64_t at = 0; at < code; at += truth.line) all.offsets.push_back(at);
            all.offsets.push_back(offset + (dense ? 0 : code));
        }
        const auto both = oracle(all).latencies;
        ChaseTrace trace;
        for (std::size_t i = 1; i <= r.offsets.size() * r.recorded_passes; ++i)
            trace.latencies.push_back(both[i * (1 + (code + truth.line - 1) / truth.line) - 1]);
        return trace;
    };
    return deduce_geometry(chase, {.threshold = (truth.hit + truth.miss) / 2,
                                   .fits = truth.capacity() / 2,
                                   .overflows = truth.capacity() * 2,
                                   .buffer_bytes = truth.capacity() * 8,
                                   .word = 64,
                                   .code_bytes = code});
}

TEST(Geometry, CountsTheWaysThatTheChasesOwnCodeOccupies) {
    for (const auto& truth : {Truth{.line = 256, .sector = 256, .ways = 32, .sets = 1},
                              Truth{.line = 128, .sector = 128, .ways = 16, .sets = 2},
                              Truth{.line = 128, .sector = 128, .ways = 6, .sets = 8}}) {
        SCOPED_TRACE(truth.sets);
        const auto found = deduce_beside_code(truth, 256);
        EXPECT_EQ(found.capacity.value, static_cast<std::int64_t>(truth.capacity()));
        EXPECT_EQ(found.ways.value, static_cast<std::int64_t>(truth.ways));
        EXPECT_EQ(found.sets.value, static_cast<std::int64_t>(truth.sets));
        EXPECT_EQ(found.policy.name, "lru");
    }
}

TEST(Geometry, RecoversRandomCachesDespiteOutliersAndIsNeverSurelyWrong) {
    std::mt19937_64 random(7);
    const auto pick = [&](std::vector<std::uint64_t> values) { return values[random() % values.size()]; };
    int exact = 0, wrong_but_sure = 0;
    constexpr int kCaches = 16;
    for (int i = 0; i < kCaches; ++i) {
        Truth truth{.line = pick({32, 64, 128, 256}),
                    .ways = 1 + random() % 20,
                    .sets = pick({1, 4, 8, 16, 24, 32, 64, 96}),
                    .policy = random() % 4 == 0 ? "fifo" : "lru",
                    .outliers = 0.01,
                    .jitter = 4};
        truth.sector = random() % 3 == 0 ? 32 : truth.line;
        if (truth.ways == 1) truth.policy = "lru";
        const auto found = deduce(truth, random());
        const bool same = found.capacity.value == static_cast<std::int64_t>(truth.capacity()) &&
                          found.line.value == static_cast<std::int64_t>(truth.line) &&
                          found.ways.value == static_cast<std::int64_t>(truth.ways) &&
                          found.sets.value == static_cast<std::int64_t>(truth.sets);
        exact += same ? 1 : 0;
        for (const auto& [finding, value] : {std::pair{found.capacity, truth.capacity()},
                                             {found.line, truth.line},
                                             {found.ways, truth.ways},
                                             {found.sets, truth.sets},
                                             {found.sector, truth.sector}})
            if (finding.confidence > 0.95 && finding.value != static_cast<std::int64_t>(value)) ++wrong_but_sure;
        EXPECT_TRUE(same || found.capacity.confidence <= 0.95)
            << "cache " << i << ": " << (found.remarks.empty() ? "" : found.remarks.back());
    }
    EXPECT_GE(exact, kCaches - 1);
    EXPECT_EQ(wrong_but_sure, 0);
}

TEST(Geometry, ReportsNoSectorOfAWindowThatWasNotEvicted) {
    // Two words miss for another reason, and nothing else of the window does.
    const auto chase = [](const ChaseRequest& request) {
        ChaseTrace trace;
        for (std::uint32_t pass = 0; pass < request.recorded_passes; ++pass)
            for (const auto offset : request.offsets)
                trace.latencies.push_back(offset == 640 || offset == 1216 || offset >= 8192 ? 300 : 100);
        return trace;
    };
    const auto found =
        deduce_geometry(chase, {.threshold = 200, .fits = 16384, .overflows = 32768, .buffer_bytes = 262144});
    EXPECT_EQ(found.sector.confidence, 0);
}

TEST(Geometry, LeavesANonlinearHashOpen) {
    const Truth truth{.line = 64, .sector = 64, .ways = 8, .sets = 64, .hashed = true};
    const auto found = deduce(truth);
    EXPECT_EQ(found.sector.value, 64);
    EXPECT_EQ(found.ways.confidence, 0);
    EXPECT_LE(found.capacity.confidence, 0.5) << "an interval";
    EXPECT_LE(found.capacity.bracket[0], static_cast<std::int64_t>(truth.capacity()));
    EXPECT_GE(found.capacity.bracket[1], static_cast<std::int64_t>(truth.capacity()));
}

TEST(Geometry, DistinguishesOneRandomSetOfManyWaysFromAHash) {
    // The L1 of Hopper may be like this.
    const Truth truth{.line = 128, .sector = 32, .ways = 200, .sets = 1, .policy = "random", .hit = 32, .miss = 280};
    expect_exact(truth, deduce(truth));
}

TEST(Geometry, FindsSetsOfALargeRandomCacheByConflictingLines) {
    const Truth truth{.line = 64, .sector = 64, .ways = 12, .sets = 512, .policy = "random"};
    expect_exact(truth, deduce(truth));
}

/// Sets of unequal size below a filtering level, in numbers of lines. `dealt`: line numbers modulo all lines are dealt
/// to the sets in turn, and full sets are skipped.
struct Unequal {
    std::vector<std::size_t> ways;
    bool dealt = false, fifo = false;
    std::uint64_t first = 0;  ///< number of the line at offset 0
    double outliers = 0;
};

CacheFindings deduce_filtered(const Unequal& truth) {
    constexpr std::uint64_t kLine = 1024;
    const std::size_t lines = std::accumulate(truth.ways.begin(), truth.ways.end(), std::size_t{0});
    std::vector<std::size_t> table;
    for (auto left = truth.ways; table.size() < lines;)
        for (std::size_t set = 0; set < left.size(); ++set)
            if (left[set] > 0) table.push_back(set), --left[set];
    std::vector<std::vector<std::uint64_t>> held(truth.ways.size());  // by set, the next victim first
    std::mt19937_64 random(3);
    const auto hits = [&](std::uint64_t line) {
        const std::size_t set = truth.dealt ? table[line % lines] : line % truth.ways.size();
        auto& those = held[set];
        const auto found = std::ranges::find(those, line);
        const bool hit = found != those.end();
        if (hit && truth.fifo) return true;
        if (hit)
            those.erase(found);
        else if (those.size() == truth.ways[set])
            those.erase(those.begin());
        those.push_back(line);
        return hit;
    };
    const Chase chase = [&](const ChaseRequest& request) {
        ChaseTrace trace;
        for (std::uint32_t pass = 0; pass < request.warm_passes + request.recorded_passes; ++pass)
            for (const auto offset : request.offsets) {
                const double latency = (hits(offset / kLine + truth.first) ? 10 : 60) +
                                       (static_cast<double>(random() % 1000) < 1000 * truth.outliers ? 500 : 0);
                if (pass >= request.warm_passes) trace.latencies.push_back(latency);
            }
        return trace;
    };
    return deduce_geometry(chase, {.threshold = 35,
                                   .fits = lines / 2 * kLine,
                                   .overflows = lines * 4 * kLine,
                                   .buffer_bytes = lines * 16 * kLine,
                                   .word = 64,
                                   .probe_stride = kLine,
                                   .filtered = true});
}

TEST(UnequalSetsBelowAFilteringLevel, AreFoundWithGrowingArrays) {
    // The L2 TLB of Mei 2014, Figs. 10 and 11, and sets chosen by modulo, wherever the array begins.
    for (const bool dealt : {true, false})
        for (const std::uint64_t first : {0, 30, 55, 1000}) {
            const auto found =
                deduce_filtered({.ways = {17, 8, 8, 8, 8, 8, 8}, .dealt = dealt, .first = first, .outliers = 0.01});
            EXPECT_EQ(found.set_ways, (std::vector<std::int64_t>{17, 8, 8, 8, 8, 8, 8})) << dealt << ", from " << first;
            EXPECT_EQ(found.capacity.value, 65 * 1024);
            EXPECT_EQ(found.line.value, 1024);
            EXPECT_GT(found.sets.confidence, 0.95);
            EXPECT_EQ(found.policy.name, "lru");
        }
}

TEST(UnequalSetsBelowAFilteringLevel, AreRightOrLeftOpen) {
    std::mt19937_64 random(11);
    int exact_lru = 0, tried_lru = 0;
    constexpr int kTried = 20;
    for (int i = 0; i < kTried; ++i) {
        Unequal truth{.dealt = random() % 2 == 0, .fifo = random() % 2 == 0, .first = random() % 500, .outliers = 0.01};
        for (std::uint64_t sets = 2 + random() % 6; sets > 0; --sets) truth.ways.push_back(2 + random() % 12);
        auto found = deduce_filtered(truth);
        std::sort(truth.ways.begin(), truth.ways.end(), std::greater<>());
        tried_lru += truth.fifo ? 0 : 1;
        if (found.sets.confidence == 0) continue;
        if (found.set_ways.empty()) found.set_ways.assign(static_cast<std::size_t>(found.sets.value), found.ways.value);
        EXPECT_TRUE(std::ranges::equal(found.set_ways, truth.ways)) << "case " << i;
        exact_lru += std::ranges::equal(found.set_ways, truth.ways) && !truth.fifo ? 1 : 0;
    }
    EXPECT_GE(exact_lru, tried_lru * 9 / 10);
    EXPECT_GT(tried_lru, kTried / 4);
}

TEST(UnequalSetsBelowAFilteringLevel, AreNotReportedAsEqualOnes) {
    // A large set and many small ones, in arrays that begin anywhere: the overflow past the capacity may show the
    // distances of a few equal sets.
    for (std::size_t small = 5; small <= 12; ++small)
        for (const std::size_t large : {6, 7, 9, 10})
            for (const std::uint64_t first : {0, 7, 20, 33}) {
                Unequal truth{.dealt = true, .fifo = true, .first = first};
                truth.ways.assign(small, 4);
                truth.ways.front() = large;
                const auto found = deduce_filtered(truth);
                EXPECT_TRUE(found.sets.confidence == 0 || found.set_ways.size() == small)
                    << large << " and " << small - 1 << " of 4 from " << first << ": " << found.sets.value;
            }
    const auto equal = deduce_filtered({.ways = std::vector<std::size_t>(12, 4), .fifo = true, .outliers = 0.01});
    EXPECT_EQ(equal.sets.value, 12);
    EXPECT_EQ(equal.ways.value, 4);
    EXPECT_GT(equal.sets.confidence, 0.9);
}

TEST(Statistics, LeastSquaresRecoverALineFromItsPoints) {
    const std::vector<double> x{1, 2, 4, 8};
    std::vector<double> y;
    for (const double at : x) y.push_back(5 - 3 * at);
    const auto exact = least_squares(x, y);
    EXPECT_NEAR(exact.at_zero, 5, 1e-12);
    EXPECT_NEAR(exact.slope, -3, 1e-12);
    const std::vector<double> steps{0, 1, 2}, up{0, 3, 3};
    EXPECT_NEAR(least_squares(steps, up).slope, 1.5, 1e-12);
    EXPECT_NEAR(least_squares(steps, up).at_zero, 0.5, 1e-12);
    EXPECT_NEAR(exact.slope_uncertainty, 0, 1e-9);
    // Distances of -0.5, 1 and -0.5, with one degree of freedom, over x that lie 0 and 1 from their mean.
    EXPECT_NEAR(least_squares(steps, up).slope_uncertainty, std::sqrt(1.5 / 2), 1e-12);
}

TEST(Statistics, AMeanNearTheMedianIgnoresOutliersAndClockSteps) {
    EXPECT_DOUBLE_EQ(mean_near_median({804, 808, 804, 808, 804, 2000}, 4), (804 * 3 + 808 * 2) / 5.0);
    EXPECT_EQ(mean_near_median({}, 4), 0);
}

TEST(Statistics, FindsTheLocationDespiteJitterAndOutliers) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> jitter(0, 6);
    std::vector<double> readings;
    for (int i = 0; i < 20000; ++i)
        readings.push_back(2 * std::round((440.7 + jitter(random) +
                                           (random() % 25 == 0 ? 500 + static_cast<double>(random() % 1500) : 0)) /
                                          2));
    const auto found = location(readings, 2);
    EXPECT_NEAR(found.mean, 440.7, 0.15);
    EXPECT_NEAR(found.median, 440.7, 0.2);
    EXPECT_NEAR(found.uncertainty, 6 / std::sqrt(20000 * 0.96), 0.002);
    // The median of all readings is not free of outliers.
    EXPECT_GT(median_of_steps(readings, 2), 440.9);
}

TEST(Statistics, KeepsAllQuietReadingsAtAnyClockStep) {
    const auto found = location({804, 808, 804, 808, 804, 2000}, 4);
    EXPECT_DOUBLE_EQ(found.mean, (804 * 3 + 808 * 2) / 5.0);
    EXPECT_EQ(location({440, 440, 440, 441, 442}, 2).mean, 440.6);
    EXPECT_EQ(location(std::vector<double>(9, 77), 1).uncertainty, 0);
    EXPECT_EQ(location({}, 1).mean, 0);
}

}  // namespace
}  // namespace gputomo::deduce
