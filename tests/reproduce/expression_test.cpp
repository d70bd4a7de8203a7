// Tests of what expressions compute, refuse and read.
#include "fakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::reproduce {
namespace {

using testing::decided;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::scan_with;

scan::Scan measured() {
    auto scan = scan_with({decided("shared.latency", std::int64_t{38}),
                           decided("shared.banks", std::int64_t{16}),
                           decided("clock.scope", std::string("tpc")),
                           decided("paths.global.caches", std::vector<std::string>{"l1", "l2"}),
                           decided("operations[add.f32].throughput", 7.96),
                           {.path = "shared.conflict_cost", .knowledge = results::Knowledge::absent},
                           {.path = "shared.access_group",
                            .knowledge = results::Knowledge::undecided,
                            .candidates = {std::int64_t{16}, std::int64_t{32}}}});
    scan::Record record{.id = "chase", .status = scan::Status::done};
    record.outcome.traces.push_back(
        {.name = "chase/curve",
         .experiment = "chase",
         .columns = {{"size", "bytes", {1, 2, 4, 8}}, {"latency", "cycles", {10, 10, 30, 40}}}});
    scan.records.push_back(record);
    return scan;
}

std::string value(const std::string& text) {
    return text_of(Expression(text).evaluate(
        {{"G", measured()}, {"H", scan_with({decided("shared.latency", std::int64_t{19})})}}, "G"));
}

std::string refusal(const std::string& text) {
    try {
        (void)Expression(text).evaluate(
            {{"G", measured()}, {"H", scan_with({decided("shared.latency", std::int64_t{19})})}}, "G");
    } catch (const InputError& e) {
        return e.what();
    }
    return "nothing";
}

std::string missing(const std::string& text) {
    try {
        (void)Expression(text).evaluate(
            {{"G", measured()}, {"H", scan_with({decided("shared.latency", std::int64_t{19})})}}, "G");
    } catch (const NotMeasured& e) {
        return e.what();
    }
    return "nothing";
}

TEST(Expression, ComputesWithThePrecedenceOfArithmetic) {
    EXPECT_EQ(value("1 + 2 * 3 - 4 / 8"), "6.5");
    EXPECT_EQ(value("(1 + 2) * -3"), "-9");
    EXPECT_EQ(value("10 - 2 - 3"), "5");
    EXPECT_EQ(value("power(2, 7)"), "128");
    EXPECT_EQ(value("shared.latency / shared.banks"), "2.375");
    EXPECT_EQ(value("operations[add.f32].throughput * 100"), "796");
}

TEST(Expression, ComparesAndCombinesConditions) {
    EXPECT_EQ(value("shared.latency == 38 and clock.scope == 'tpc'"), "true");
    EXPECT_EQ(value("shared.latency < 38 or not clock.scope != 'sm'"), "false");
    EXPECT_EQ(value("shared.latency <= 38 and shared.latency >= 38 and not (shared.latency > 38)"), "true");
    EXPECT_EQ(value("0.1 + 0.2 == 0.3"), "true");
}

TEST(Expression, ReadsCurves) {
    const std::string curve = "column('chase', 'chase/curve', 'size'), column('chase', 'chase/curve', 'latency')";
    EXPECT_EQ(value("first_above(" + curve + ", 10)"), "4");
    EXPECT_EQ(value("first_below(" + curve + ", 40)"), "1");
    EXPECT_EQ(value("where_below(" + curve + ", 40)"), "[1, 2, 4]");
    EXPECT_EQ(value("at(" + curve + ", 8)"), "40");
    EXPECT_EQ(value("between(" + curve + ", 2, 4)"), "[10, 30]");
    EXPECT_EQ(value("peak(" + curve + ")"), "8");
    EXPECT_THAT(missing("first_above(" + curve + ", 40)"), HasSubstr("nowhere above 40"));
    EXPECT_THAT(missing("at(" + curve + ", 3)"), HasSubstr("no point at 3"));
}

TEST(Expression, ReadsLists) {
    EXPECT_EQ(value("length(paths.global.caches)"), "2");
    EXPECT_EQ(value("contains(paths.global.caches, 'l2')"), "true");
    EXPECT_EQ(value("item(paths.global.caches, 1)"), "l2");
    EXPECT_EQ(value("2 * list(1, 2) + list(10, 20)"), "[12, 24]");
    EXPECT_EQ(value("max(list(3, 1, 2)) - min(3, 1) + mean(list(1, 2)) + median(list(5, 1, 3))"), "6.5");
    EXPECT_EQ(value("sum(list(1, 2, 3))"), "6");
    EXPECT_THAT(missing("item(paths.global.caches, 2)"), HasSubstr("a list of 2 has no element 2"));
    EXPECT_EQ(value("when(contains(paths.global.caches, 'l2'), shared.banks)"), "16");
    EXPECT_THAT(missing("when(shared.banks > 16, shared.banks)"), HasSubstr("condition"));
    EXPECT_THAT(refusal("list(1, 2) + list(1, 2, 3)"), HasSubstr("lists of 2 and of 3 numbers"));
}

TEST(Expression, ComparesGpus) {
    EXPECT_EQ(value("shared.latency / of('H', shared.latency)"), "2");
    EXPECT_THAT(missing("of('H', shared.banks)"), HasSubstr("not measured: shared.banks"));
    EXPECT_THAT(missing("of('I', shared.banks)"), HasSubstr("not measured: I"));
    EXPECT_THAT(refusal("of(shared.banks)"), HasSubstr("of('GPU', expression)"));
}

TEST(Expression, SaysWhatWasNotMeasured) {
    EXPECT_EQ(missing("shared.bytes_per_cycle"), "not measured: shared.bytes_per_cycle");
    EXPECT_THAT(missing("shared.conflict_cost"), HasSubstr("looked for and is absent"));
    EXPECT_EQ(missing("shared.access_group"), "shared.access_group was left undecided: one of 16, 32");
    EXPECT_THAT(missing("column('chase', 'chase/curve', 'misses')"),
                HasSubstr("column 'misses' of the trace chase/curve"));
    EXPECT_EQ(value("absent(shared.conflict_cost) and not absent(shared.latency) and known(shared.latency) and not "
                    "known(shared.access_group)"),
              "true");
    EXPECT_THAT(missing("absent(shared.access_group)"), HasSubstr("undecided"));
}

TEST(Expression, RefusesWhatItCannotReadAndSaysWhere) {
    EXPECT_EQ(refusal("1 +"), "\"1 +\": at character 4: found the end; expected a value");
    EXPECT_EQ(refusal("(1"), "\"(1\": at character 3: found the end; expected ')'");
    EXPECT_EQ(refusal("1 2"), "\"1 2\": at character 3: found '2'; expected an operator or the end");
    EXPECT_THAT(refusal("2 * shared.colour"),
                HasSubstr("at character 5: found 's'; expected a function, or a leaf of the machine description"));
    EXPECT_THAT(refusal("colour(1)"), HasSubstr("a function that exists"));
    EXPECT_THAT(refusal("at(1)"), HasSubstr("at with 3 arguments"));
    EXPECT_THAT(refusal("absent(1)"), HasSubstr("expected absent(leaf)"));
    EXPECT_THAT(refusal("column('a', 'b')"), HasSubstr("column('experiment', 'trace', 'column')"));
    EXPECT_THAT(refusal("'open"), HasSubstr("a closing quote"));
    EXPECT_THAT(refusal("clock.scope + 1"), HasSubstr("found text (tpc); expected a number"));
    EXPECT_THAT(refusal("clock.scope == 1"), HasSubstr("text (tpc) is compared with a number (1)"));
    EXPECT_THAT(refusal("operations[add.f32"), HasSubstr("expected"));
}

TEST(Expression, ListsWhatItReads) {
    const Expression expression("shared.latency / item(column('chase', 'chase/curve', 'size'), 0) + shared.latency");
    EXPECT_THAT(expression.reads().at("").leaves, ElementsAre("shared.latency"));
    EXPECT_THAT(expression.reads().at("").experiments, ElementsAre("chase"));
    const Expression both("shared.latency / of('H', shared.banks)");
    EXPECT_THAT(both.reads_of("G", "G").leaves, ElementsAre("shared.latency"));
    EXPECT_THAT(both.reads_of("H", "G").leaves, ElementsAre("shared.banks"));
    EXPECT_THAT(both.reads_of("H", "H").leaves, ElementsAre("shared.banks", "shared.latency"));
}

}  // namespace
}  // namespace gputomo::reproduce
