// Findings as estimates of the machine description's leaves.
#include "deduce/cache/findings/cache_estimates.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::deduce {
namespace {

const results::Estimate* find(const std::vector<results::Estimate>& all, const std::string& path) {
    const auto at = std::ranges::find(all, path, &results::Estimate::path);
    return at == all.end() ? nullptr : &*at;
}

Finding exact(std::int64_t value) { return {value, 0.98, {value, value}, {}}; }

CacheFindings known() {
    CacheFindings found;
    found.line = exact(128), found.capacity = exact(4096), found.ways = exact(4), found.sets = exact(8);
    found.index = "bits";
    found.index_bits = {7, 9, 10};
    found.policy.name = "lru", found.policy.confidence = 0.9;
    found.policy.agreement = {{"lru", 1}, {"random", 0.5}};
    return found;
}

TEST(CacheEstimates, HaveOneLeafForEachFinding) {
    const auto all = cache_estimates(known(), "caches.l1", "chase");
    EXPECT_EQ(std::get<std::int64_t>(find(all, "caches.l1.capacity")->value), 4096);
    EXPECT_EQ(std::get<std::string>(find(all, "caches.l1.policy")->value), "lru");
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(find(all, "caches.l1.index_bits")->value),
              (std::vector<std::int64_t>{7, 9, 10}));
    EXPECT_EQ(find(all, "caches.l1.policy")->note, "lru explains 100.0%, random explains 50.0%");
    EXPECT_EQ(find(all, "caches.l1.sector"), nullptr) << "nothing is known about it";
    EXPECT_EQ(find(all, "caches.l1.set_ways"), nullptr);
}

TEST(CacheEstimates, ARejectedPolicyIsNotSaidToExplainMore) {
    auto found = known();
    found.policy.agreement = {{"lru", 0.99}, {"random", 1}};
    found.policy.rejections = {{"random", {}, "all victims together are 10^40 times likelier under lru"}};
    const auto all = cache_estimates(found, "caches.l1", "chase");
    EXPECT_EQ(find(all, "caches.l1.policy")->note,
              "lru explains 99.0%. random is out: all victims together are 10^40 times likelier under lru");
}

TEST(CacheEstimates, AnUnsureNumberIsAnInterval) {
    CacheFindings found;
    found.capacity = {1024, 0.5, {1024, 4096}, {}};
    const auto all = cache_estimates(found, "caches.l2", "chase");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].knowledge, results::Knowledge::undecided);
    EXPECT_EQ(all[0].interval, (std::array<double, 2>{1024, 4096}));
}

TEST(CacheEstimates, PoliciesThatRemainAreCandidates) {
    CacheFindings found;
    found.policy.candidates = {"lru", "bit-plru"};
    const auto all = cache_estimates(found, "caches.l1", "chase");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].knowledge, results::Knowledge::undecided);
    EXPECT_EQ(all[0].candidates.size(), 2U);
}

TEST(TlbEstimates, CountEntriesAsReachOverSpan) {
    const auto all = tlb_estimates(known(), "tlbs.l1", "chase");
    EXPECT_EQ(std::get<std::int64_t>(find(all, "tlbs.l1.entries")->value), 32);
    EXPECT_EQ(std::get<std::int64_t>(find(all, "tlbs.l1.span")->value), 128);
    EXPECT_EQ(std::get<std::int64_t>(find(all, "tlbs.l1.reach")->value), 4096);
}

TEST(CacheEstimates, ThePolicysNoteSaysWhatSpeaksAgainstTheOthers) {
    auto found = known();
    found.policy.name = "lru";
    found.policy.rejections = {{"fifo", "A* B A*", "its last load, A, missed where the policy lets it hit"},
                               {"nru", "", "all victims together are likelier under lru"}};
    const auto all = cache_estimates(found, "caches.l1", "chase");
    const auto* policy = find(all, "caches.l1.policy");
    ASSERT_NE(policy, nullptr);
    EXPECT_NE(policy->note.find(". fifo is out: in A* B A*, its last load, A, missed where the policy lets it hit. "
                                "nru is out: all victims together are likelier under lru. Sequences name"),
              std::string::npos)
        << policy->note;
    found.policy.rejections[0].sequence = std::string(999, 'A');
    for (std::size_t i = 1; i < 999; i += 2) found.policy.rejections[0].sequence[i] = ' ';
    const auto of_long = cache_estimates(found, "caches.l1", "chase");
    EXPECT_NE(find(of_long, "caches.l1.policy")->note.find("fifo is out: in a sequence of 500 loads,"),
              std::string::npos);
}

}  // namespace
}  // namespace gputomo::deduce
