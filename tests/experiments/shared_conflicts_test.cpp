#include "experiments/shared_memory/shared_conflicts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace gputomo::experiments {
namespace {

/// A bank-conflict model: each group of threads takes as many passes as its fullest bank holds different rows.
PatternLatency model(Banks truth) {
    return [truth](const std::vector<std::uint32_t>& offsets) {
        double passes = 0;
        for (std::size_t first = 0; first < offsets.size(); first += static_cast<std::size_t>(truth.access_group)) {
            std::map<std::int64_t, std::set<std::int64_t>> rows;
            for (std::size_t i = first;
                 i < std::min(offsets.size(), first + static_cast<std::size_t>(truth.access_group)); ++i) {
                const std::int64_t cell = offsets[i] / truth.bank_width;
                rows[cell % truth.banks].insert(cell / (truth.banks * truth.row_words));
            }
            std::size_t most = 0;
            for (const auto& [bank, set] : rows) most = std::max(most, set.size());
            passes = std::max(passes, static_cast<double>(most));
        }
        return 30 + (passes - 1) * static_cast<double>(truth.conflict_cost);
    };
}

void expect_back(Banks truth) {
    const auto found = deduce_banks(model(truth), 32);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->banks, truth.banks);
    EXPECT_EQ(found->bank_width, truth.bank_width);
    EXPECT_EQ(found->row_words, truth.row_words);
    EXPECT_EQ(found->conflict_cost, truth.conflict_cost);
    EXPECT_EQ(found->access_group, truth.access_group);
}

TEST(SharedConflictsTest, BanksOfEveryGenerationAreRecovered) {
    const Banks generations[] = {
        {16, 4, 1, 16, 16}, {32, 4, 1, 38, 32}, {32, 8, 1, 30, 32}, {32, 4, 2, 30, 32}, {32, 4, 1, 2, 32}};
    // No real GPU has these banks.
    const Banks others[] = {
        {12, 4, 1, 7, 32}, {64, 4, 1, 3, 16}, {16, 4, 1, 5, 8}, {24, 8, 2, 4, 16}, {16, 16, 1, 2, 8}};
    for (const auto& truth : others) expect_back(truth);
    for (const auto& truth : generations) expect_back(truth);
}

TEST(SharedConflictsTest, MemoryWithoutConflictsHasNoBanksToFind) {
    EXPECT_FALSE(deduce_banks([](const auto&) { return 30.0; }, 32).has_value());
}

}  // namespace
}  // namespace gputomo::experiments
