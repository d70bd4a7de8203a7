#include "results/findings.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace gputomo::results {
namespace {

Findings with_two_leaves() {
    Findings findings;
    findings.add({.path = "shared.latency", .value = std::int64_t{38}});
    findings.add({.path = "shared.banks", .knowledge = Knowledge::undecided, .value = std::int64_t{16}});
    return findings;
}

TEST(Findings, GivesTheNumberOfAKnownLeafOnly) {
    const auto findings = with_two_leaves();
    EXPECT_EQ(findings.number("shared.latency"), 38);
    EXPECT_EQ(findings.number("shared.banks"), std::nullopt);
    EXPECT_EQ(findings.number("shared.capacity"), std::nullopt);
}

TEST(Findings, KeepsTheLatestEstimateOfAPath) {
    auto findings = with_two_leaves();
    findings.add({.path = "shared.latency", .value = 40.5});
    EXPECT_EQ(findings.number("shared.latency"), 40.5);
    EXPECT_EQ(findings.all().size(), 2U);
}

TEST(Findings, AsksItsCheckBeforeEachLookUp) {
    std::vector<std::string> asked;
    const auto findings = with_two_leaves().checked([&](std::string_view path) {
        asked.emplace_back(path);
        if (path == "shared.banks") throw std::logic_error("not declared");
    });
    EXPECT_EQ(findings.number("shared.latency"), 38);
    EXPECT_THROW((void)findings.find("shared.banks"), std::logic_error);
    EXPECT_EQ(findings.find("shared.capacity"), nullptr);
    EXPECT_EQ(asked, (std::vector<std::string>{"shared.latency", "shared.banks", "shared.capacity"}));
}

}  // namespace
}  // namespace gputomo::results
