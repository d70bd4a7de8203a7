// The largest contiguous array that stays resident in a simulated cache.
#include "deduce/cache/arrays/array_capacity.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

struct Found {
    std::string why;
    Bracket capacity;
};

Found find(const CacheTruth& truth, const CacheQuestion& question) {
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const auto probe = Probe(chase, question).with_sector(truth.sector).over_whole_buffer();
    Residency residency(probe, truth.line);
    Found found;
    found.why = find_array_capacity(residency, probe.question(), truth.line, found.capacity);
    return found;
}

TEST(ArrayCapacity, IsFoundToTheLine) {
    for (const auto& truth : {CacheTruth{.sets = 16, .ways = 4}, CacheTruth{.sets = 12, .ways = 5, .policy = "fifo"},
                              CacheTruth{.line = 128, .sector = 128, .sets = 1, .ways = 24}}) {
        const auto found = find(truth, truth.question());
        EXPECT_EQ(found.why, "");
        EXPECT_EQ(found.capacity.fits, truth.capacity());
        EXPECT_EQ(found.capacity.overflow, truth.capacity() + truth.line);
    }
}

TEST(ArrayCapacity, IsFoundOutsideAWrongBracket) {
    const CacheTruth truth{.sets = 16, .ways = 4};
    auto question = truth.question();
    question.fits = 2 * truth.capacity(), question.overflows = 4 * truth.capacity();
    EXPECT_EQ(find(truth, question).capacity.fits, truth.capacity());
    question.fits = truth.capacity() / 8, question.overflows = truth.capacity() / 4;
    EXPECT_EQ(find(truth, question).capacity.fits, truth.capacity());
}

TEST(ArrayCapacity, StaysABracketWhereAPassWouldTakeTooManyLoads) {
    const CacheTruth truth{.sets = 16, .ways = 4};
    auto question = truth.question();
    question.max_pass_loads = 64;  // an array of twice the capacity has 128 lines
    const auto found = find(truth, question);
    EXPECT_NE(found.why.find("up to 128 loads"), std::string::npos) << found.why;
    EXPECT_EQ(found.capacity.fits, truth.capacity() / 2);
    EXPECT_EQ(found.capacity.overflows, 2 * truth.capacity());
    EXPECT_EQ(found.capacity.overflow, 0U);
}

}  // namespace
}  // namespace gputomo::deduce::cache
