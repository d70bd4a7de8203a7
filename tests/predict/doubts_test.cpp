// What a prediction warns of, by profiles that are made by hand.
#include "predict/launch/doubts.hpp"

#include "machine/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace gputomo::predict {
namespace {

using launch::AccessKind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Doubts : public ::testing::Test {
protected:
    static void SetUpTestSuite() { machine_ = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json"); }
    Doubts() : rates_(sm_rates_of(machine_, 0, "h200")) {
        profile_.blocks = 132;
        profile_.executed.assign(16, 1);
        profile_.steps.resize(16);
        profile_.sms.emplace_back().emplace_back();
        prediction_.waves = 0.5;
        prediction_.cycles = 10'000;
        prediction_.resident_warps = 32;
    }

    /// An access of the only recorded block to lines that are `apart` lines from each other.
    void access(AccessKind kind, std::uint64_t line, std::uint16_t lines = 1, std::uint64_t apart = 1,
                bool partial = false) {
        auto& block = profile_.sms.front().front();
        block.accesses.push_back(
            {.first = static_cast<std::uint32_t>(block.lines.size()), .lines = lines, .kind = kind});
        for (std::uint64_t i = 0; i < lines; ++i) block.lines.push_back({line + i * apart, 0xF, partial});
    }
    [[nodiscard]] std::vector<std::string> doubts() const {
        return doubts_of({profile_, prediction_, rates_, machine_});
    }

    static inline machine::Machine machine_;
    launch::LaunchProfile profile_;
    LaunchPrediction prediction_;
    SmRates rates_;
};

TEST_F(Doubts, OrdinaryLaunchHasNone) {
    for (std::uint64_t i = 0; i < 100; ++i) access(AccessKind::load, i), access(AccessKind::store, 1000 + i);
    EXPECT_THAT(doubts(), IsEmpty());
}

TEST_F(Doubts, SmWithMoreWorkThanTheReplayedOnes) {
    for (std::uint64_t block = 0; block < 132; ++block)
        profile_.sampled.push_back({.block = block, .instructions = block == 7 ? 250.0 : 100.0});
    EXPECT_THAT(doubts(), ElementsAre(HasSubstr("2.50 times the instructions")));
    prediction_.waves = 2;
    EXPECT_THAT(doubts(), IsEmpty()) << "blocks go to the SM that is free first";
}

TEST_F(Doubts, FewWarpsThatWaitForTheSlowestOfManyLines) {
    access(AccessKind::load, 0, 32);
    EXPECT_THAT(doubts(), IsEmpty()) << "other warps go on meanwhile";
    prediction_.resident_warps = 1;
    EXPECT_THAT(doubts(), IsEmpty()) << "the description says how long refreshes take";
    rates_.refresh = {};
    rates_.memory_line_range = 500;
    EXPECT_THAT(doubts(), IsEmpty()) << "the description says how far lines are apart";
    rates_.memory_line_range = 0;
    EXPECT_THAT(doubts(), ElementsAre(HasSubstr("wait for 32 lines each")));
}

TEST_F(Doubts, CodeLargerThanTheCachesOfInstructions) {
    profile_.executed.assign(4096, 1);
    profile_.steps.resize(4096);
    rates_.code.caches.emplace_back();
    EXPECT_THAT(doubts(), IsEmpty()) << "the description says where instructions come from";
    rates_.code = {};
    EXPECT_THAT(doubts(), ElementsAre(HasSubstr("64 KiB of code")));
    profile_.executed.assign(4096, 0);
    EXPECT_THAT(doubts(), IsEmpty()) << "it is not executed";
}

TEST_F(Doubts, IndexedConstantsBeyondTheFirstCache) {
    profile_.constant_bytes = 2048;
    EXPECT_THAT(doubts(), IsEmpty());
    profile_.constant_bytes = 4096;
    EXPECT_THAT(doubts(), ElementsAre(HasSubstr("up to 3.6 times as long")));  // 100 cycles over 28
}

TEST_F(Doubts, PagesBeyondTheReachOfATlb) {
    constexpr std::uint64_t kLinesOfPage = (16 << 20) / launch::kTouchedLineBytes;
    for (std::uint64_t i = 0; i < 64; ++i) access(AccessKind::load, i % 16 * kLinesOfPage);
    for (std::uint64_t i = 0; i < 400; ++i) access(AccessKind::load, i);
    EXPECT_THAT(doubts(), IsEmpty()) << "16 pages of 16 MiB are within reach";
    for (std::uint64_t i = 0; i < 64; ++i) access(AccessKind::load, i % 17 * kLinesOfPage);
    EXPECT_THAT(doubts(), ElementsAre(HasSubstr("reach of an SM's TLB")));
}

TEST_F(Doubts, LocalMemory) {
    for (std::uint64_t i = 0; i < 80; ++i) access(AccessKind::load, i);
    for (std::uint64_t i = 0; i < 20; ++i) access(AccessKind::store, (std::uint64_t{1} << 49) + i);
    EXPECT_THAT(doubts(), ElementsAre(HasSubstr("20% of the lines that warps access are local memory")));
}

TEST_F(Doubts, PartialWritesNearTheLimitOfStores) {
    for (std::uint64_t i = 0; i < 10; ++i) access(AccessKind::store, i, 1, 1, i < 5);
    EXPECT_THAT(doubts(), IsEmpty()) << "stores take little of the time";
    prediction_.bounds = {{kL2Stores, 9'000}};
    EXPECT_THAT(doubts(), ElementsAre(HasSubstr("50% of the stored lines")));
}

TEST_F(Doubts, MissingBandwidthThatMayLimit) {
    rates_.assumptions.emplace_back("accesses.l2_store.bytes_per_cycle: not described");
    EXPECT_THAT(doubts(), IsEmpty());
    prediction_.bounds = {{kL2Stores, 6'000}};
    EXPECT_THAT(doubts(), Contains(HasSubstr("lacks their bandwidth")));
}

}  // namespace
}  // namespace gputomo::predict
