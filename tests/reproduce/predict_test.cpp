// Tests of predictions of listings, rules of accesses and measured kernels in expressions.
#include "fakes.hpp"
#include "reproduce/measured/kernels.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::reproduce::of_predictions {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

const Listings kListings{
    {"chain", "LD R1, [R1]\nFADD R1, R1, R2\nLDS R3, [R1]\nST [R4], R3"},
    {"branch", "@P0 BRA `(out)\nFADD R1, R1, R2\nout:\nEXIT"},
};

scan::Scan scan_of(const std::string& machine) {
    return testing::scan_with(testing::perfect(testing::machine_of({.machine = machine})));
}

std::string value(const std::string& text, const std::string& machine = "gtx680") {
    return text_of(Expression(text, kListings).evaluate({{"G", scan_of(machine)}}, "G"));
}

template <class Thrown>
std::string message(const std::string& text, const scan::Scan& scan) {
    try {
        (void)Expression(text, kListings).evaluate({{"G", scan}}, "G");
    } catch (const Thrown& e) {
        return e.what();
    }
    return "nothing";
}
std::string refusal(const std::string& text) { return message<InputError>(text, scan_of("gtx680")); }

TEST(Predictions, PredictTheListingOnTheScannedGpu) {
    EXPECT_EQ(value("predict('chain', 'issue_times')"), "[0, 301, 310, 334]");
    EXPECT_EQ(value("predict('chain', 'issue_times')", "gtx980"), "[0, 368, 374, 398]");
    EXPECT_EQ(value("predict('chain', 'bytes') / predict('chain', 'instructions')"), "64");
    EXPECT_EQ(value("predict('chain', 'limit')"), "memory system");
    EXPECT_EQ(value("list(predict('chain', 'core_instructions'), predict('chain', 'shared'), predict('chain', 'sfu'))"),
              "[1, 1, 0]");
    EXPECT_EQ(value("predict('chain', 'needed') * predict('chain', 'bound') == predict('chain', 'latency')"), "true");
    EXPECT_EQ(value("at(predict('chain', 'warps'), predict('chain', 'rate'), 4) * predict('chain', 'latency')"), "4");
}

TEST(Predictions, ArgumentsReplaceLeavesOfTheScan) {
    EXPECT_EQ(value("predict('chain', 'issue_times', 'paths.global.memory_latency', 400)", "gtx980"),
              "[0, 400, 406, 430]");
    EXPECT_EQ(value("predict('chain', 'issue_times', 'paths.global.memory_latency', 400)"), "[0, 403, 412, 436]")
        << "in the mean, with pauses";
    EXPECT_EQ(value("predict('chain', 'bytes', 1, 32)"), "1152");
    EXPECT_EQ(value("predict('chain', 'bytes', 1, 32, 'memory.fetch_bytes', 128)"), "4224");
    EXPECT_EQ(
        value("predict('chain', 'latency', 1, 5) - predict('chain', 'latency') == 4 * paths.global.transaction_cost"),
        "true");
    EXPECT_EQ(value("predict('chain', 'shared', 3, 4)"), "4");
    EXPECT_EQ(value("predict('chain', 'reissues', 3, 4, 1, 3)"), "5");
    EXPECT_EQ(value("list(length(predict('branch', 'issue_times')), length(predict('branch', 'issue_times', 'out')))"),
              "[3, 2]");
}

TEST(Predictions, ReadOnlyTheListedLeaves) {
    const Expression expression("of('H', predict('chain', 'latency'))", kListings);
    EXPECT_THAT(
        expression.reads().at("H").leaves,
        IsSupersetOf({"paths.global.memory_latency", "launch.block_replacement", "operations[add.f32].latency"}));
    EXPECT_TRUE(expression.asks_models());
    EXPECT_THAT(message<NotMeasured>("predict('chain', 'latency')", testing::scan_with({})),
                HasSubstr("topology.sms: missing"));
    auto without = testing::perfect(testing::machine_of({.machine = "gtx680"}));
    std::erase_if(without, [](const auto& estimate) { return estimate.path.starts_with("shared."); });
    EXPECT_THAT(message<NotMeasured>("predict('chain', 'latency')", testing::scan_with(without)),
                HasSubstr("shared.latency, shared.bytes_per_cycle: missing"));
    auto more = scan_of("gtx680");  // of random words
    more.findings.add(testing::decided("memory.fetch_bytes", std::int64_t{64}));
    EXPECT_EQ(text_of(Expression("predict('chain', 'bytes', 1, 32)", kListings).evaluate({{"G", more}}, "G")), "1152");
}

TEST(Predictions, RefuseUnknownListingsLinesAndLeaves) {
    EXPECT_THAT(refusal("predict('chain')"), HasSubstr("expected predict('LISTING', 'QUANTITY', ...)"));
    EXPECT_THAT(refusal("predict('chains', 'latency')"), HasSubstr("the name of a listing, not 'chains'"));
    EXPECT_THAT(refusal("predict('chain', 'colour')"),
                AllOf(HasSubstr("one of 'issue_times', 'latency'"), HasSubstr("'rate'")));
    EXPECT_THAT(
        refusal("predict('chain', 'latency', 1)"),
        HasSubstr(
            "found a number (1) alone as an argument of predict; expected 'LABEL', or 'LEAF', NUMBER, or LINE, COUNT"));
    EXPECT_THAT(refusal("predict('chain', 'latency', 1, 'x')"), HasSubstr("a number (1) alone"));
    EXPECT_THAT(refusal("predict('chain', 'latency', 2, 4)"), HasSubstr("line 2 of listing has no such access"));
    EXPECT_THAT(refusal("predict('chain', 'latency', 1, 33)"), HasSubstr("expected 1 to 32"));
    EXPECT_THAT(refusal("predict('chain', 'latency', 'caches.l2.latency', 33)"),
                HasSubstr("found 'caches.l2.latency' as an argument of predict"));
    EXPECT_THAT(refusal("predict('chain', 'latency', 'issue.ilp_latency', 2.5)"),
                HasSubstr("found 2.5 for issue.ilp_latency as an argument of predict"));
    EXPECT_THAT(refusal("predict('chain', 'latency', 0, 4)"),
                HasSubstr("found line 0 as an argument of predict; expected a line of the listing"));
    EXPECT_THAT(refusal("predict('branch', 'latency', 'in')"),
                HasSubstr("--taken in: kernel '' has no such label; expected one of out"));
}

TEST(Rules, CountTransactionsAndBankConflicts) {
    EXPECT_EQ(value("transactions(list(9, 2, 3), 4)"), "[0, 8]");
    EXPECT_EQ(value("transactions(list(9, 2, 3), 16)"), "[0]");
    EXPECT_EQ(value("conflict_ways(list(0, 3, 6, 9), 3)"), "4");
    EXPECT_EQ(value("conflict_ways(list(0, 3, 6, 9), 4)"), "1");
    EXPECT_EQ(value("conflict_ways(list(7, 7, 7), 4)"), "1");
    EXPECT_TRUE(Expression("conflict_ways(list(1), 4)").asks_models());
    EXPECT_THAT(refusal("conflict_ways(list(1, 2), 0)"), HasSubstr("found 0; expected a whole number from 1"));
    EXPECT_THAT(refusal("transactions(list(1, 2.5), 4)"), HasSubstr("found 2.5; expected a whole number from 0"));
    EXPECT_THAT(refusal("transactions(list(1, -2), 4)"), HasSubstr("found -2; expected a whole number"));
    EXPECT_THAT(refusal("transactions(3, 4)"), HasSubstr("found a number (3); expected a list of words"));
    EXPECT_THAT(refusal("conflict_ways(list(1), 'four')"), HasSubstr("found text (four); expected a number"));
}

TEST(Kernels, AreMeasuredWhereRowsNameThem) {
    const Expression expression("max(kernel_rate('vector_add')) + of('H', item(kernel_warps('permute_random'), 0))");
    EXPECT_THAT(expression.reads().at("").kernels, ElementsAre("vector_add"));
    EXPECT_THAT(expression.reads_of("H", "G").kernels, ElementsAre("permute_random"));
    EXPECT_FALSE(expression.asks_models());
    const auto device = sim::make_device(testing::machine_of({.machine = "gtx680"}), {.id = "sim:gtx680"});
    auto scan = testing::scan_with({});
    scan.records.push_back(measure_kernels(*device, {"vector_add"}, [](double done, std::string_view) {
        EXPECT_GE(done, 0);
        EXPECT_LE(done, 1);
    }));
    EXPECT_EQ(scan.records.back().status, scan::Status::done) << scan.records.back().error;
    const auto column = [&](const std::string& text) {
        return std::get<std::vector<double>>(Expression(text).evaluate({{"G", scan}}, "G"));
    };
    EXPECT_THAT(column("kernel_warps('vector_add')"), AllOf(SizeIs(5), Contains(64)));
    const auto rates = column("kernel_rate('vector_add')");
    EXPECT_NEAR(rates.back(), 154 / (384 * 8 * 1.124),
                0.03 * rates.back());  // three lines a warp, at the memory's rate
    EXPECT_LT(rates.front(), 0.7 * rates.back());
    EXPECT_THAT(message<NotMeasured>("kernel_rate('reduce')", scan),
                HasSubstr("not measured: column 'rate' of the trace kernels_named/reduce"));
}

TEST(Kernels, MustExistInTheProject) {
    EXPECT_THAT(refusal("kernel_rate('fft')"), AllOf(HasSubstr("one of 'vector_add'"), HasSubstr("'reduce'")));
    EXPECT_THAT(refusal("kernel_rate(1)"), HasSubstr("expected kernel_rate('ID')"));
    EXPECT_THAT(refusal("kernel_time('vector_add')"), HasSubstr("a function that exists"));
    const auto device = sim::make_device(testing::machine_of({.machine = "gtx680"}), {.id = "sim:gtx680"});
    const auto record = measure_kernels(*device, {"fft"}, [](double, std::string_view) {});
    EXPECT_EQ(record.status, scan::Status::failed);
    EXPECT_THAT(record.error, HasSubstr("fft"));
}

}  // namespace
}  // namespace gputomo::reproduce::of_predictions
