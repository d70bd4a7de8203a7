// Replacement policies: which are equivalent, and which the trace of one set distinguishes.
#include "deduce/cache/chase/probe.hpp"
#include "deduce/cache/policy/policy.hpp"
#include "deduce/cache/policy/policy_model.hpp"
#include "sim/memory/replacement.hpp"
#include "validate/random_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace gputomo::deduce {
namespace {

TEST(Policies, WithTwoWaysTreePlruAndBitPlruAreLru) {
    EXPECT_TRUE(equivalent_policies("lru", "tree-plru", 2));
    EXPECT_TRUE(equivalent_policies("bit-plru", "lru", 2));
    for (const auto* other : {"fifo", "nru", "srrip", "brrip", "slru", "random"})
        EXPECT_FALSE(equivalent_policies("lru", other, 2)) << other;
    for (const std::uint32_t ways : {3U, 4U, 8U}) {
        EXPECT_FALSE(equivalent_policies("lru", "tree-plru", ways)) << ways;
        EXPECT_FALSE(equivalent_policies("lru", "bit-plru", ways)) << ways;
    }
    EXPECT_THROW(static_cast<void>(equivalent_policies("lru", "clairvoyant", 2)), std::invalid_argument);
}

/// Misses of a simulated set of two ways when lines 0 to 2 are loaded in this order, each a digit of `sequence` to the
/// base of three.
std::vector<bool> misses(std::string_view policy, std::size_t sequence, int length) {
    const std::vector<std::uint32_t> set_ways{2};
    const std::vector<double> no_odds;
    const auto replacement =
        sim::make_replacement({.policy = policy, .set_ways = set_ways, .way_odds = no_odds, .seed = 1});
    std::vector<std::size_t> held;
    std::vector<bool> missed;
    for (int i = 0; i < length; ++i, sequence /= 3) {
        const std::size_t line = sequence % 3;
        auto at = std::find(held.begin(), held.end(), line);
        missed.push_back(at == held.end());
        if (!missed.back()) {
            replacement->touch(0, static_cast<std::uint32_t>(at - held.begin()));
            continue;
        }
        at = held.size() < 2 ? held.insert(held.end(), line) : held.begin() + replacement->victim(0);
        *at = line;
        replacement->fill(0, static_cast<std::uint32_t>(at - held.begin()));
    }
    return missed;
}

TEST(Policies, EquivalentPoliciesMissEquallyInEverySimulatedSequence) {
    constexpr int kLength = 8;
    for (const std::string other : {"tree-plru", "bit-plru", "fifo", "nru", "srrip", "slru"}) {
        bool alike = true;
        for (std::size_t sequence = 0; sequence < 6561 && alike; ++sequence)
            alike = misses("lru", sequence, kLength) == misses(other, sequence, kLength);
        EXPECT_EQ(alike, equivalent_policies("lru", other, 2)) << other;
    }
}

PolicyFinding of_one_set(const std::string& policy, std::int64_t ways, double outliers) {
    constexpr std::int64_t kLine = 16, kSets = 64;
    machine::Cache cache;
    cache.line.set(kLine);
    cache.sets.set(kSets);
    cache.ways.set(ways);
    cache.policy.set(policy);
    validate::CachePath path(cache, {4, outliers}, 29);
    const Chase chase = std::ref(path);
    const auto bytes = static_cast<std::uint64_t>(kLine * kSets * ways);
    const CacheQuestion question{.threshold = path.threshold(),
                                 .fits = bytes / 2,
                                 .overflows = 2 * bytes,
                                 .buffer_bytes = 1 << 20,
                                 .base = path.base()};
    const cache::Probe probe(chase, question);
    cache::Offsets lines;
    for (std::int64_t i = 0; i <= ways; ++i) lines.push_back(static_cast<std::uint64_t>(i * kLine * kSets));
    return cache::find_policy(probe, lines, {}, kLine);
}

// Lines of two words can be loaded only twice in an access sequence.
TEST(Policies, AreDistinguishedOnShortLinesDespiteOutliers) {
    struct Case {
        const char* policy;
        int ways;
    };
    for (const auto& [policy, ways] : {Case{"nru", 4}, {"bit-plru", 3}, {"tree-plru", 5}, {"slru", 2}}) {
        const auto found = of_one_set(policy, ways, 0.01);
        EXPECT_EQ(found.name, policy) << ways << " ways";
        EXPECT_GT(found.confidence, 0.6) << policy;
    }
}

/// Whether a simulated set, full and in a state that random loads led to, answers "A* B A*" as it is written.
bool answers(const std::string& policy, std::uint32_t ways, const std::string& sequence, std::uint64_t seed) {
    const std::vector<std::uint32_t> set_ways{ways};
    const std::vector<double> no_odds;
    const auto replacement =
        sim::make_replacement({.policy = policy, .set_ways = set_ways, .way_odds = no_odds, .seed = seed});
    std::mt19937_64 random(seed);
    std::vector<std::string> held, names;
    for (std::uint32_t line = 0; line <= ways; ++line) names.push_back(std::string(1, static_cast<char>('A' + line)));
    const auto misses_one = [&](const std::string& line) {
        auto at = std::find(held.begin(), held.end(), line);
        const bool missed = at == held.end();
        if (!missed) return replacement->touch(0, static_cast<std::uint32_t>(at - held.begin())), false;
        at = held.size() < ways ? held.insert(held.end(), line) : held.begin() + replacement->victim(0);
        *at = line;
        replacement->fill(0, static_cast<std::uint32_t>(at - held.begin()));
        return true;
    };
    std::shuffle(names.begin(), names.end(), random);
    for (const auto& name : names) misses_one(name);
    for (std::uint64_t i = random() % (6 * ways); i > 0; --i) misses_one(names[random() % names.size()]);
    std::istringstream words(sequence);
    for (std::string word; words >> word;)
        if (misses_one(word.substr(0, 1)) != (word.size() > 1)) return false;
    return true;
}

// The simulator's policies are no part of the search. Ways, policies and outliers are drawn.
TEST(Policies, ThatAreRejectedCannotAnswerTheirSequence) {
    constexpr const char* kPolicies[] = {"lru", "fifo", "bit-plru", "nru", "srrip", "slru", "tree-plru", "random"};
    constexpr std::uint64_t kStates = 1000;
    std::mt19937_64 random(20);
    std::size_t sequences = 0;
    for (const std::string truth : kPolicies) {
        const auto ways = static_cast<std::uint32_t>(3 + random() % 6);
        const auto found = of_one_set(truth, ways, random() % 2 == 0 ? 0.0 : 0.01);
        if (found.name != truth) continue;  // short lines leave some policies open
        for (const auto& rejection : found.rejections) {
            EXPECT_NE(rejection.policy, truth);
            if (rejection.sequence.empty()) continue;
            ++sequences;
            for (std::uint64_t seed = 0; seed < kStates; ++seed)
                ASSERT_FALSE(answers(rejection.policy, ways, rejection.sequence, seed))
                    << truth << " with " << ways << " ways: " << rejection.policy << " " << rejection.sequence;
        }
    }
    EXPECT_GT(sequences, 30U);
}

TEST(Policies, AreReportedWithTheirEquivalentNames) {
    const auto found = of_one_set("bit-plru", 2, 0);
    EXPECT_EQ(found.name, "lru");
    EXPECT_NE(found.evidence.find("bit-plru or tree-plru does the same"), std::string::npos) << found.evidence;
}

TEST(Policies, OddsOfWaysAreCountedDespiteMissLikeOutliers) {
    machine::Cache cache;
    cache.line.set(64);
    cache.sets.set(16);
    cache.ways.set(8);
    cache.policy.set("way-odds");
    cache.way_odds.set({0.1, 0.1, 0.1, 0.3, 0.1, 0.1, 0.1, 0.1});
    validate::CachePath path(cache, {4, 0.01}, 5);
    const Chase chase = std::ref(path);
    const CacheQuestion question{
        .threshold = path.threshold(), .fits = 4096, .overflows = 16384, .buffer_bytes = 1 << 20, .base = path.base()};
    const cache::Probe probe(chase, question);
    cache::Offsets lines;
    for (std::uint64_t i = 0; i <= 8; ++i) lines.push_back(i * 1024);
    const auto found = cache::find_policy(probe, lines, {}, 64);
    EXPECT_EQ(found.name, "way-odds");
    ASSERT_EQ(found.odds.size(), 8U);
    EXPECT_NEAR(found.odds.front(), 0.3, 0.02);
    for (std::size_t way = 1; way < 8; ++way) EXPECT_NEAR(found.odds[way], 0.1, 0.02);
}

}  // namespace
}  // namespace gputomo::deduce
