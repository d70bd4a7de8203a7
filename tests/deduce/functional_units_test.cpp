// Finds units from pairs of operations on made-up SMs, whose pairs take exactly as long as their units allow.
#include "deduce/pipeline/functional_units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace gputomo::deduce {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// A made-up operation.
struct MadeUp {
    std::array<double, 3> cycles{};  ///< that each unit needs for a warp's operation; 0: the unit is not involved
    bool any = false;                ///< one of the units executes it; otherwise it needs all of them
    double alone() const {
        if (!any) return *std::ranges::max_element(cycles);
        double rate = 0;
        for (const double c : cycles) rate += c > 0 ? 1 / c : 0;
        return 1 / rate;
    }
};

/// The shortest time for both operations: the best split of each among its alternatives (at most two), but no less than
/// `issue`.
double together(const MadeUp& a, double n, const MadeUp& b, double m, double issue) {
    constexpr int kSteps = 400;
    const auto load = [](const MadeUp& op, double count, int step) {
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

/// Pairs every operation with the representative of every unit, as the experiment does. Both parts of a pair take
/// equally long alone.
UnitMap map_of(const std::vector<std::pair<std::string, MadeUp>>& operations, double issue_interval) {
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

TEST(FunctionalUnits, OperationOnEitherOfTwoUnitsIsSharedByTheirRates) {
    const auto map = map_of({{"sp", {{4, 0, 0}}}, {"sfu", {{0, 16, 0}}}, {"mul", {{4, 10, 0}, true}}}, 1);
    EXPECT_THAT(map.units(), SizeIs(2));
    const auto verdict = map.verdict(2);
    EXPECT_EQ(verdict.use, UnitUse::alternatives);
    EXPECT_THAT(verdict.units, ElementsAre(0, 1));
    EXPECT_NEAR(map.pairs(2).at(0).share, 0.714, 0.02);
    EXPECT_NEAR(map.pairs(2).at(1).share, 0.286, 0.02);
}

TEST(FunctionalUnits, SeparateIntegerUnitIsFoundAndNamed) {
    const auto map = map_of(
        {{"sp", {{1, 0, 0}}}, {"int", {{0, 2, 0}}}, {"int", {{0, 2, 0}}}, {"sp", {{1, 0, 0}}}, {"sfu", {{0, 0, 8}}}},
        0.25);
    ASSERT_THAT(map.units(), SizeIs(3));
    EXPECT_EQ(map.units()[1].name, "int");
    EXPECT_EQ(map.verdict(2).use, UnitUse::single);
    EXPECT_THAT(map.verdict(2).units, ElementsAre(1));
    EXPECT_THAT(map.verdict(3).units, ElementsAre(0));
}

TEST(FunctionalUnits, SlowOperationBelongsToTheUnitThatItOccupies) {
    const auto map = map_of({{"sp", {{4, 0, 0}}}, {"shift", {{8, 0, 0}}}, {"slow", {{40, 0, 0}}}}, 1);
    EXPECT_THAT(map.units(), SizeIs(1));
    EXPECT_EQ(map.verdict(1).use, UnitUse::single);
    EXPECT_EQ(map.verdict(2).use, UnitUse::single);
}

TEST(FunctionalUnits, OperationOfSeveralInstructionsNeedsBothUnits) {
    const auto map = map_of({{"sp", {{4, 0, 0}}}, {"sfu", {{0, 16, 0}}}, {"sin", {{4, 16, 0}}}}, 2);
    EXPECT_EQ(map.verdict(2).use, UnitUse::all);
    EXPECT_THAT(map.verdict(2).units, ElementsAre(1, 0));
    EXPECT_NEAR(map.pairs(2).at(0).share, 0.25, 0.01);
}

TEST(FunctionalUnits, FullIssueSlotsHideTheUnit) {
    // One instruction is issued per cycle, so the pair takes equally long on one unit and on two.
    const auto one = map_of({{"sp", {{1, 0, 0}}}, {"mul", {{1, 0, 0}}}}, 1);
    const auto two = map_of({{"sp", {{1, 0, 0}}}, {"mul", {{0, 1, 0}}}}, 1);
    for (const auto* map : {&one, &two}) {
        EXPECT_EQ(map->verdict(1).use, UnitUse::issue_limited);
        EXPECT_THAT(map->verdict(1).units, ElementsAre(0));
    }
}

TEST(FunctionalUnits, FreeIssueSlotsShowTheUnit) {
    // An operation at half rate leaves issue slots free, so that a unit of its own shows.
    const auto map = map_of({{"sp", {{1, 0, 0}}}, {"int", {{0, 2, 0}}}}, 1);
    EXPECT_THAT(map.units(), SizeIs(2));
    const auto shared = map_of({{"sp", {{1, 0, 0}}}, {"int", {{2, 0, 0}}}}, 1);
    EXPECT_THAT(shared.units(), SizeIs(1));
}

TEST(FunctionalUnits, ErrorsOfAPercentDoNotMatter) {
    EXPECT_EQ(classify_unit_use({{0, interference({10, 10, 10.25, 5})}}).use, UnitUse::none);
    EXPECT_EQ(classify_unit_use({{0, interference({10, 10, 19.7, 5})}}).use, UnitUse::single);
}

TEST(FunctionalUnits, ReportsAShareThatNoKnownUnitExplains) {
    EXPECT_EQ(classify_unit_use({{0, {0.5, true}}, {1, {0.0, true}}}).use, UnitUse::unexplained);
}

TEST(FunctionalUnits, DuplicateNamesGetANumber) {
    UnitMap map;
    map.add_unit("int", 0);
    map.add_unit("int", 1);
    EXPECT_EQ(map.units()[1].name, "int2");
}

}  // namespace
}  // namespace gputomo::deduce
