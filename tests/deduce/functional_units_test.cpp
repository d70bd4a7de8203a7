// Units from pairs of operations, on invented SMs whose pairs take exactly as long as their units allow.
#include "deduce/pipeline/functional_units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace gputomo::deduce {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// Cycles that each unit needs for a warp's operation: alternatives where `any`, else all of them each time.
struct Invented {
    std::array<double, 3> cycles{};
    bool any = false;
    double alone() const {
        if (!any) return *std::ranges::max_element(cycles);
        double rate = 0;
        for (const double c : cycles) rate += c > 0 ? 1 / c : 0;
        return 1 / rate;
    }
};

/// The shortest time for both: the best split of either among its alternatives (two at most), and never faster than
/// issue.
double together(const Invented& a, double n, const Invented& b, double m, double issue) {
    constexpr int kSteps = 400;
    const auto load = [](const Invented& op, double count, int step) {
        std::array<double, 3> busy{};
        double share = static_cast<double>(step) / kSteps;
        for (std::size_t u = 0; u < busy.size(); ++u) {
            if (op.cycles[u] == 0) continue;
            busy[u] = count * op.cycles[u] * (op.any ? share : 1);
            share = 1 - share;
        }
        return busy;
    };
    double best = 1e9;
    for (int i = 0; i <= (a.any ? kSteps : 0); ++i)
        for (int j = 0; j <= (b.any ? kSteps : 0); ++j) {
            const auto x = load(a, n, i), y = load(b, m, j);
            double longest = issue;
            for (std::size_t u = 0; u < x.size(); ++u) longest = std::max(longest, x[u] + y[u]);
            best = std::min(best, longest);
        }
    return best;
}

/// Pairs every operation with every unit's representative, as the experiment does; parts of equal length.
UnitMap map_of(const std::vector<std::pair<std::string, Invented>>& operations, double issue_interval) {
    UnitMap map;
    for (int pass = 0; pass < 2; ++pass)
        for (std::size_t row = 0; row < operations.size(); ++row) {
            while (const auto unit = map.next(row)) {
                const auto& x = operations[row].second;
                const auto& y = operations[map.units()[*unit].representative].second;
                const double n = 10 / x.alone(), m = 10 / y.alone(), issue = (n + m) * issue_interval;
                map.add(row, *unit, interference({10, 10, together(x, n, y, m, issue), issue}));
            }
            if (map.verdict(row).use == UnitUse::none) map.add_unit(operations[row].first, row);
        }
    return map;
}

TEST(Units, MultiplicationOnTwoUnitsIsSharedByTheirRates) {
    const auto map = map_of({{"sp", {{4, 0, 0}}}, {"sfu", {{0, 16, 0}}}, {"mul", {{4, 10, 0}, true}}}, 1);
    EXPECT_THAT(map.units(), SizeIs(2));
    const auto verdict = map.verdict(2);
    EXPECT_EQ(verdict.use, UnitUse::alternatives);
    EXPECT_THAT(verdict.units, ElementsAre(0, 1));
    EXPECT_NEAR(map.pairs(2).at(0).share, 0.714, 0.02);
    EXPECT_NEAR(map.pairs(2).at(1).share, 0.286, 0.02);
}

TEST(Units, AnIntegerUnitOfItsOwnIsFoundAndNamed) {
    const auto map = map_of(
        {{"sp", {{1, 0, 0}}}, {"int", {{0, 2, 0}}}, {"int", {{0, 2, 0}}}, {"sp", {{1, 0, 0}}}, {"sfu", {{0, 0, 8}}}},
        0.25);
    ASSERT_THAT(map.units(), SizeIs(3));
    EXPECT_EQ(map.units()[1].name, "int");
    EXPECT_EQ(map.verdict(2).use, UnitUse::single);
    EXPECT_THAT(map.verdict(2).units, ElementsAre(1));
    EXPECT_THAT(map.verdict(3).units, ElementsAre(0));
}

TEST(Units, AnOperationAtHalfRateBelongsToTheUnitThatItKeepsBusyTwiceAsLong) {
    const auto map = map_of({{"sp", {{4, 0, 0}}}, {"shift", {{8, 0, 0}}}, {"slow", {{40, 0, 0}}}}, 1);
    EXPECT_THAT(map.units(), SizeIs(1));
    EXPECT_EQ(map.verdict(1).use, UnitUse::single);
    EXPECT_EQ(map.verdict(2).use, UnitUse::single);
}

TEST(Units, SeveralInstructionsOnTwoUnitsNeedBoth) {
    const auto map = map_of({{"sp", {{4, 0, 0}}}, {"sfu", {{0, 16, 0}}}, {"sin", {{4, 16, 0}}}}, 2);
    EXPECT_EQ(map.verdict(2).use, UnitUse::all);
    EXPECT_THAT(map.verdict(2).units, ElementsAre(1, 0));
    EXPECT_NEAR(map.pairs(2).at(0).share, 0.25, 0.01);
}

TEST(Units, WhatFillsTheIssueSlotsHidesItsUnit) {
    // Both could be issued every cycle only: one unit or two, the pair takes as long.
    const auto one = map_of({{"sp", {{1, 0, 0}}}, {"mul", {{1, 0, 0}}}}, 1);
    const auto two = map_of({{"sp", {{1, 0, 0}}}, {"mul", {{0, 1, 0}}}}, 1);
    for (const auto* map : {&one, &two}) {
        EXPECT_EQ(map->verdict(1).use, UnitUse::issue_limited);
        EXPECT_THAT(map->verdict(1).units, ElementsAre(0));
    }
}

TEST(Units, HalfTheIssueSlotsShowWhatAllOfThemHide) {
    // A second kind at half rate runs beside the first up to the issue limit, on a unit of its own.
    const auto map = map_of({{"sp", {{1, 0, 0}}}, {"int", {{0, 2, 0}}}}, 1);
    EXPECT_THAT(map.units(), SizeIs(2));
    const auto shared = map_of({{"sp", {{1, 0, 0}}}, {"int", {{2, 0, 0}}}}, 1);
    EXPECT_THAT(shared.units(), SizeIs(1));
}

TEST(Units, ErrorsOfAPercentChangeNothing) {
    EXPECT_EQ(classify_unit_use({{0, interference({10, 10, 10.25, 5})}}).use, UnitUse::none);
    EXPECT_EQ(classify_unit_use({{0, interference({10, 10, 19.7, 5})}}).use, UnitUse::single);
}

TEST(Units, APartThatNoKnownUnitExplainsIsSaid) {
    EXPECT_EQ(classify_unit_use({{0, {0.5, true}}, {1, {0.0, true}}}).use, UnitUse::unexplained);
}

TEST(Units, NamesThatAreTakenGetANumber) {
    UnitMap map;
    map.add_unit("int", 0);
    map.add_unit("int", 1);
    EXPECT_EQ(map.units()[1].name, "int2");
}

}  // namespace
}  // namespace gputomo::deduce
