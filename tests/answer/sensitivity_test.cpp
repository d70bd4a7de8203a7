// Finds the values of a description that a time depends on.
#include "answer/sensitivity.hpp"

#include "machine/json.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gputomo::answer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

machine::Machine described() { return machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json"); }

std::vector<std::string> paths_of(const std::vector<Sensitivity>& all) {
    std::vector<std::string> paths;
    for (const auto& one : all) paths.push_back(one.path);
    return paths;
}

TEST(Sensitivity, FindsTheNumbersThatDecide) {
    std::size_t asked = 0;
    const auto found = sensitivities(
        described(),
        [&](const machine::Machine& m) {
            ++asked;
            return 1000 + 1e6 / *m.memory.read_bandwidth + 3 * static_cast<double>(*m.caches.at("l2").latency);
        },
        [](std::size_t, std::size_t) {});
    EXPECT_THAT(paths_of(found), ElementsAre("caches.l2.latency", "memory.read_bandwidth"));
    const double base = 1000 + 1e6 / 4655.614566076383 + 3 * 280;
    EXPECT_NEAR(found[0].elasticity, 840 / base, 1e-9) << "a part of the time that is proportional to it";
    EXPECT_NEAR(found[1].elasticity, -(1e6 / 4655.614566076383) / base, 0.01);
    EXPECT_LT(found[1].larger_cycles, found[1].smaller_cycles);
    EXPECT_THAT(found[0].value, HasSubstr("280 cycles"));
    EXPECT_THAT(found[0].evidence, HasSubstr("measured, confidence"));
    EXPECT_LT(asked, 80) << "most numbers are decided in groups";
}

/// Two numbers whose effects cancel where both are changed alike.
TEST(Sensitivity, SeesEffectsThatCancel) {
    const auto found = sensitivities(
        described(),
        [](const machine::Machine& m) {
            const auto& fma = m.operations.at("fma.rn.f64");
            return 1000 * static_cast<double>(*fma.latency) / *fma.throughput;
        },
        [](std::size_t, std::size_t) {});
    EXPECT_THAT(paths_of(found),
                testing::UnorderedElementsAre("operations[fma.rn.f64].throughput", "operations[fma.rn.f64].latency"));
}

TEST(Sensitivity, NothingMattersToAConstant) {
    std::size_t asked = 0;
    const auto found = sensitivities(
        described(),
        [&](const machine::Machine&) {
            ++asked;
            return 7.0;
        },
        [](std::size_t, std::size_t) {});
    EXPECT_THAT(found, IsEmpty());
    EXPECT_EQ(asked, 3) << "once as it is, and all numbers together in both directions";
}

/// A capacity that no description can have is no answer, and no reason to give up.
TEST(Sensitivity, LeavesOutWhatCannotBeUsed) {
    const auto found = sensitivities(
        described(),
        [](const machine::Machine& m) {
            if (*m.caches.at("l1").capacity != 238592) throw InputError("the L1 has other sets");
            return static_cast<double>(*m.caches.at("l2").latency);
        },
        [](std::size_t, std::size_t) {});
    EXPECT_THAT(paths_of(found), ElementsAre("caches.l2.latency"));
}

}  // namespace
}  // namespace gputomo::answer
