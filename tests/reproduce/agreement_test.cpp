// Tests of when a reproduced value agrees with the printed one.
#include "reproduce/papers/agreement.hpp"
#include "fakes.hpp"

#include <gtest/gtest.h>

namespace gputomo::reproduce {
namespace {

using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;

bool agree(const std::string& published, const Value& reproduced, const std::string& more = "") {
    const auto paper = paper_from_json(
        testing::paper_text("\"value\":" + published + ",\"reproduce\":\"shared.latency\"" + more), "test");
    return agrees(paper.entries.front(), reproduced);
}

TEST(Agreement, NumbersAgreeIfTheyRoundToThePrintedDigits) {
    EXPECT_TRUE(agree("24", 24.4));
    EXPECT_FALSE(agree("24", 24.6));
    EXPECT_TRUE(agree("7.9", 7.94));
    EXPECT_FALSE(agree("7.9", 7.96));
    EXPECT_TRUE(agree("8.0", 7.96));
    EXPECT_FALSE(agree("8.0", 8.4));
    EXPECT_TRUE(agree("0.063", 0.0625));
    EXPECT_FALSE(agree("0.063", 0.0636));
    EXPECT_TRUE(agree("-89", -88.6));
    EXPECT_FALSE(agree("8", true));
}

TEST(Agreement, AToleranceWidensIt) {
    EXPECT_FALSE(agree("440", 443.0));
    EXPECT_TRUE(agree("440", 443.0, R"(,"tolerance":0.01,"remark":"about")"));
    EXPECT_FALSE(agree("440", 445.0, R"(,"tolerance":0.01,"remark":"about")"));
}

TEST(Agreement, ANumberAgreesWithARangeThatHoldsIt) {
    EXPECT_TRUE(agree("[400, 600]", 440.0));
    EXPECT_FALSE(agree("[400, 600]", 601.0));
    EXPECT_TRUE(agree("[436, 443]", Numbers{436, 443.2}));
    EXPECT_FALSE(agree("[436, 443]", Numbers{436, 444}));
    EXPECT_FALSE(agree("[1, 2, 3]", 2.0));
}

TEST(Agreement, EveryElementOfAListMustAgreeWithOnePrintedNumber) {
    EXPECT_TRUE(agree("24", Numbers{24, 24.1, 23.9}));
    EXPECT_FALSE(agree("24", Numbers{24, 25}));
    EXPECT_FALSE(agree("24", Numbers{}));
}

TEST(Agreement, WordsAgreeIfTheyEqualTheExpectedValue) {
    EXPECT_TRUE(agree("\"per-TPC\"", std::string("tpc"), R"(,"expected":"tpc")"));
    EXPECT_FALSE(agree("\"per-TPC\"", std::string("tpc")));
    EXPECT_FALSE(agree("\"per-TPC\"", std::string("sm"), R"(,"expected":"tpc")"));
    EXPECT_TRUE(agree("{}", Texts{"sm", "gpu"}, R"(,"expected":["sm","gpu"])"));
    EXPECT_FALSE(agree("true", false));
    EXPECT_TRUE(agree("true", true));
    EXPECT_FALSE(agree("1", true));
}

}  // namespace
}  // namespace gputomo::reproduce
