// The shortest access sequences that speak against policies.
#include "deduce/cache/policy/counterexample.hpp"

#include "deduce/cache/policy/policy.hpp"
#include "deduce/cache/policy/policy_selection.hpp"
#include "deduce/cache/policy/possible_states.hpp"
#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

namespace gputomo::deduce::cache {
namespace {

using testing::policy_model;

struct Load {
    std::size_t line = 0;
    bool missed = false;
};

std::vector<Load> parse(const std::string& sequence) {
    std::vector<Load> loads;
    std::istringstream words(sequence);
    for (std::string word; words >> word;) {
        const bool missed = word.back() == '*';
        if (missed) word.pop_back();
        std::size_t number = 0;
        for (const char letter : word) number = number * 26 + static_cast<std::size_t>(letter - 'A') + 1;
        loads.push_back({number - 1, missed});
    }
    return loads;
}

/// A full set in a state that random loads led to. It is independent of the search: ways have one order, and each state
/// is reached by loads.
class ConcreteSet {
public:
    ConcreteSet(const std::string& policy, std::uint32_t ways, std::uint64_t seed, Ties ties = Ties::in_order)
        : ties_(policy == "random" ? Ties::any : ties), model_(policy_model(policy, ways)), ways_(ways), random_(seed) {
        std::vector<std::uint32_t> places(ways);
        std::iota(places.begin(), places.end(), 0U);
        if (ties_ == Ties::in_order) model_->set_way_order(places);
        names_.resize(ways + 1);
        std::iota(names_.begin(), names_.end(), std::size_t{0});
        std::ranges::shuffle(names_, random_);
        for (std::size_t line = 0; line < ways; ++line) {
            held_.push_back(line);
            model_->fill(static_cast<std::uint32_t>(line));
        }
        for (std::uint64_t i = random_() % (6 * ways); i > 0; --i) load(random_() % (ways + 1));
    }
    /// Whether the load of the line with this name missed.
    bool load(std::size_t name) {
        const std::size_t line = names_[name];
        const auto at = std::ranges::find(held_, line);
        if (at != held_.end()) {
            model_->touch(static_cast<std::uint32_t>(at - held_.begin()));
            return false;
        }
        const auto way = victim();
        held_[way] = line;
        model_->fill(way);
        return true;
    }

private:
    /// Ways that tie are taken in their order, unless any of them may be taken.
    std::uint32_t victim() {
        if (ties_ == Ties::any) return testing::draw_victim(*model_, ways_, random_);
        std::uint32_t best = 0;
        for (std::uint32_t way = 1; way < ways_; ++way)
            if (model_->odds(way) > model_->odds(best)) best = way;
        return best;
    }
    Ties ties_;
    std::unique_ptr<PolicyModel> model_;
    std::uint32_t ways_;
    std::mt19937_64 random_;
    std::vector<std::size_t> names_, held_;
};

constexpr int kStates = 2000;
/// The number of `kStates` random states from which the policy answers the sequence as recorded.
int answers_alike(const std::string& policy, std::uint32_t ways, const std::vector<Load>& loads, Ties ties) {
    int alike = 0;
    for (int seed = 0; seed < kStates; ++seed) {
        ConcreteSet set(policy, ways, static_cast<std::uint64_t>(seed), ties);
        alike += std::ranges::all_of(loads, [&](const Load& l) { return set.load(l.line) == l.missed; }) ? 1 : 0;
    }
    return alike;
}

PolicyFinding policy_of(const std::string& policy, std::uint32_t ways) {
    testing::CacheTruth truth{.ways = ways, .policy = policy};
    testing::SimulatedCache cache(truth);
    const auto chase = cache.chase();
    Offsets lines;
    for (std::uint64_t i = 0; i <= ways; ++i) lines.push_back(i * truth.sets * truth.line);
    return find_policy(Probe(chase, truth.question()), lines, {}, 64);
}

TEST(Counterexample, SpeaksAgainstEachRejectedPolicyButNotAgainstTheTruth) {
    for (const std::string truth : {"lru", "fifo", "bit-plru", "nru", "srrip", "slru", "tree-plru", "random"}) {
        const auto found = policy_of(truth, 4);
        EXPECT_EQ(found.name, truth);
        EXPECT_EQ(std::ranges::count(found.rejections, truth, &PolicyRejection::policy), 0);
        EXPECT_EQ(found.rejections.size(), 8U) << truth;
        for (const auto& rejection : found.rejections) {
            EXPECT_FALSE(rejection.reason.empty());
            if (rejection.sequence.empty()) {
                // Random victims may follow any sequence, and bimodal insertion with ties nearly any.
                EXPECT_TRUE(rejection.policy == "random" || rejection.policy == "brrip")
                    << truth << " " << rejection.policy << ": " << rejection.reason;
                continue;
            }
            const auto loads = parse(rejection.sequence);
            const bool in_order = rejection.reason.find("fixed order") != std::string::npos;
            EXPECT_EQ(answers_alike(rejection.policy, 4, loads, in_order ? Ties::in_order : Ties::any), 0)
                << truth << ": " << rejection.policy << " " << rejection.sequence;
            EXPECT_GT(answers_alike(truth, 4, loads, Ties::any), 0) << truth << ": " << rejection.sequence;
        }
    }
}

TraceSegment random_trace(const std::string& policy, std::uint32_t ways, std::size_t loads, std::uint64_t seed = 3) {
    ConcreteSet set(policy, ways, seed);
    TraceSegment segment;
    for (const auto line : testing::random_lines(ways, loads, seed)) {
        segment.lines.push_back(line);
        segment.missed.push_back(set.load(line));
        segment.outlier.push_back(false);
    }
    return segment;
}

TEST(Counterexample, IsAsShortAsWorkedOutByHand) {
    // A set that evicts at random sometimes evicts the line loaded just before, which LRU never does.
    const CounterexampleSearch of_random({{{random_trace("random", 4, 3000)}, 3000}}, 4, "random", 0);
    EXPECT_EQ(of_random.against("lru").sequence, "A B* A*");
    EXPECT_EQ(of_random.against("tree-plru").sequence, "A B* A*");
    EXPECT_EQ(of_random.against("fifo").sequence, "A* B* A*");
    // FIFO evicts a line that was used just before, too.
    const CounterexampleSearch of_fifo({{{random_trace("fifo", 4, 3000)}, 3000}}, 4, "fifo", 0);
    const auto lru = of_fifo.against("lru");
    EXPECT_EQ(lru.sequence, "A B* A*");
    EXPECT_EQ(lru.last_line, "A");
    EXPECT_TRUE(lru.last_missed);
    EXPECT_GT(lru.times, 10U);
    // LRU evicts the line that was filled last, if all the others are used after it.
    const CounterexampleSearch of_lru({{{random_trace("lru", 2, 3000)}, 3000}}, 2, "lru", 0);
    EXPECT_EQ(of_lru.against("fifo").loads, 4U);  // A* B C* A*
}

TEST(Counterexample, IsNoneForPoliciesThatBehaveAlike) {
    const CounterexampleSearch search({{{random_trace("lru", 2, 3000)}, 3000}}, 2, "lru", 0);
    for (const auto* same : {"lru", "bit-plru", "tree-plru", "random"})
        EXPECT_TRUE(search.against(same).sequence.empty()) << same;
}

TEST(Counterexample, NeverRejectsThePolicyOfTheTraceAtAnySize) {
    for (const std::string policy : {"lru", "fifo", "bit-plru", "nru", "srrip", "brrip", "slru", "tree-plru"})
        for (const std::uint32_t ways : {2U, 3U, 5U, 8U, 16U}) {
            const CounterexampleSearch search({{{random_trace(policy, ways, 1000, ways)}, 1000}}, ways, "random", 0);
            EXPECT_EQ(search.against(policy).sequence, "") << policy << " with " << ways << " ways";
        }
}

TEST(Counterexample, OutliersThatReadLikeMissesAreNoEvidence) {
    auto segment = random_trace("lru", 4, 3000);
    for (std::size_t i = 0; i < segment.missed.size(); i += 101) segment.missed[i] = true;
    const CounterexampleSearch search({{{segment}, 3000}}, 4, "lru", 0.01);
    for (const auto* other : {"fifo", "nru", "slru"}) {
        const auto against = search.against(other);
        ASSERT_FALSE(against.sequence.empty()) << other;
        EXPECT_GT(answers_alike("lru", 4, parse(against.sequence), Ties::any), 0) << other << ": " << against.sequence;
    }
    // Where no policy is accepted, what outliers alone show does not count: LRU produced all else.
    const CounterexampleSearch without({{{segment}, 3000}}, 4, "", 0.01);
    EXPECT_EQ(without.against("lru").sequence, "");
}

TEST(Counterexample, NamesManyLinesAsColumnsOfATable) {
    const CounterexampleSearch search({{{random_trace("lru", 40, 3000)}, 3000}}, 40, "lru", 0);
    const auto fifo = search.against("fifo");
    ASSERT_FALSE(fifo.sequence.empty());
    EXPECT_NE(fifo.sequence.find(" AA "), std::string::npos) << fifo.sequence;
    EXPECT_EQ(parse(fifo.sequence).size(), fifo.loads);
}

}  // namespace
}  // namespace gputomo::deduce::cache
