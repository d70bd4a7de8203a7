// The papers that ship: complete, and no row that agrees whatever the GPU is like.
#include "fakes.hpp"
#include "reproduce/agreement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gputomo::reproduce {
namespace {

using testing::machine_of;
using testing::shipped_papers;

class Shipped : public ::testing::Test {
protected:
    const std::vector<Paper> papers_ = shipped_papers();
};

/// What a scan that gets everything right would find.
std::vector<deduce::Estimate> perfect(const machine::Machine& machine) {
    std::vector<deduce::Estimate> estimates;
    for (const auto& leaf : machine::all_leaves(machine))
        if (leaf.leaf.knowledge == machine::Knowledge::known) estimates.push_back(testing::decided(leaf.path, leaf.leaf.value));
    return estimates;
}

/// Other values that a leaf might have had.
std::vector<deduce::Value> others(const deduce::Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return {*integer * 2 + 1, *integer / 5 - 1};
    if (const auto* real = std::get_if<double>(&value)) return {*real * 2.1, *real / 5.3};
    if (std::holds_alternative<std::string>(value)) return {std::string("another")};
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
        auto more = *texts;
        more.emplace_back("another");
        return {more, std::vector<std::string>{}};
    }
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
        std::vector<std::int64_t> reversed(integers->rbegin(), integers->rend()), doubled;
        for (const auto integer : *integers) doubled.push_back(2 * integer + 1);
        return {reversed, doubled};
    }
    return {};
}

/// Does the row stop agreeing when one of the leaves that it reads is another?
bool can_fail(const Entry& entry, std::vector<deduce::Estimate> findings) {
    for (auto& finding : findings) {
        if (!entry.recipe->expression.leaves().contains(finding.path)) continue;
        const auto truth = finding.value;
        for (const auto& other : others(truth)) {
            finding.value = other;
            if (!rows_of({&entry}, entry.on.front(), testing::scan_with(findings)).front().agrees) return true;
        }
        finding.value = truth;
    }
    return false;
}

TEST_F(Shipped, PapersAreTheOnesOfTheSeed) {
    std::set<std::string> ids;
    for (const auto& paper : papers_) ids.insert(paper.id);
    EXPECT_TRUE(ids.contains("wong2010"));
    for (const auto& paper : papers_) {
        const auto rows = std::count_if(paper.entries.begin(), paper.entries.end(), [](const Entry& entry) { return entry.recipe.has_value(); });
        if (paper.id == "wong2010") {
            EXPECT_EQ(paper.entries.size(), 319U);
            EXPECT_GE(rows, 200);
        }
    }
}

TEST_F(Shipped, GpusAreDescribed) {
    for (const auto& paper : papers_)
        for (const auto& [name, gpu] : paper.gpus) EXPECT_NO_THROW(machine::validate(machine_of(gpu), name)) << paper.id;
}

TEST_F(Shipped, NothingAgreesWhereNothingWasMeasured) {
    for (const auto& paper : papers_)
        for (const auto& entry : paper.entries) {
            if (!entry.recipe) continue;
            EXPECT_FALSE(entry.recipe->expression.leaves().empty() && entry.recipe->expression.experiments().empty()) << entry.id;
            for (const auto& row : rows_of({&entry}, entry.on.front(), {})) {
                EXPECT_FALSE(row.agrees) << entry.id;
                EXPECT_TRUE(row.reproduced.is_null()) << entry.id;
            }
        }
}

TEST_F(Shipped, EveryRowOfLeavesCanFail) {
    for (const auto& paper : papers_)
        for (const auto& entry : paper.entries)
            if (entry.recipe && entry.recipe->expression.experiments().empty()) {
                EXPECT_TRUE(can_fail(entry, perfect(machine_of(paper.gpus.at(entry.on.front()))))) << entry.id << ": " << entry.recipe->expression.text();
            }
}

}  // namespace
}  // namespace gputomo::reproduce
