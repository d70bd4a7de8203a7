// Barriers in shared memory, as cuda::barrier and cuda::pipeline use them.
#include "launched.hpp"

#include <gmock/gmock.h>

namespace gputomo::sim {
namespace {

using WordList = std::vector<std::uint32_t>;
constexpr std::uint32_t kThreads = 96;

class Barriers : public testing::Test {
protected:
    static void SetUpTestSuite() { fixture_ = std::make_unique<Fixture>("barriers.cubin"); }
    static void TearDownTestSuite() { fixture_.reset(); }
    static std::uint64_t latency() {
        return static_cast<std::uint64_t>(*completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json"))
                                               .machine.paths.at("global")
                                               .memory_latency);
    }
    static inline std::unique_ptr<Fixture> fixture_;
};

WordList numbers(std::size_t count) {
    WordList words(count);
    for (std::size_t i = 0; i < count; ++i) words[i] = static_cast<std::uint32_t>(i * i % 1009);
    return words;
}

TEST_F(Barriers, AllThreadsHaveArrivedWhenAWaitReturns) {
    constexpr std::uint32_t kRounds = 5;
    const auto found = fixture_->run<std::uint32_t>(
        "neighbours", kThreads, {numbers(kRounds * kThreads), WordList(kRounds * kThreads)}, {kRounds});
    for (std::uint32_t round = 0; round < kRounds; ++round)
        for (std::uint32_t i = 0; i < kThreads; ++i) {
            const WordList& in = found[0];
            EXPECT_EQ(found[1][round * kThreads + i],
                      in[round * kThreads + i] * round + in[round * kThreads + (i + 1) % kThreads]);
        }
}

TEST_F(Barriers, ThreadsThatDropOutAreNotWaitedFor) {
    const auto found = fixture_->run<std::uint32_t>("leaves", kThreads, {WordList(32)})[0];
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(found[i], i + 1);
}

TEST_F(Barriers, BulkCopiesArriveWithTheirBytes) {
    const auto found =
        fixture_->run<std::uint32_t>("copied_in_bulk", kThreads, {numbers(4 * kThreads), WordList(4 * kThreads)});
    for (std::uint32_t i = 0; i < 4 * kThreads; ++i)
        EXPECT_EQ(found[1][i], found[0][4 * (kThreads - 1 - i / 4) + i % 4]);
    EXPECT_GT(fixture_->gpu->counters().cycles, latency()) << "the barrier waits for the data";
}

TEST_F(Barriers, APipelineWaitsForCopiesInFlight) {
    constexpr std::uint32_t kRounds = 6;
    const auto found = fixture_->run<std::uint32_t>(
        "pipelined", kThreads, {numbers(kRounds * kThreads), WordList(kRounds * kThreads)}, {kRounds});
    for (std::uint32_t i = 0; i < kRounds * kThreads; ++i)
        EXPECT_EQ(found[1][i], found[0][i / kThreads * kThreads + kThreads - 1 - i % kThreads]);
    EXPECT_GT(fixture_->gpu->counters().cycles, kRounds / 2 * latency());
}

TEST_F(Barriers, BlocksOfACooperativeLaunchWaitForOneAnother) {
    constexpr std::uint32_t kBlocks = 5, kCount = kBlocks * kThreads;
    const auto found =
        fixture_->run<std::uint32_t>("of_the_grid", kThreads, {numbers(kCount), WordList(kCount)}, {}, kBlocks);
    for (std::uint32_t i = 0; i < kCount; ++i)
        EXPECT_EQ(found[1][i], 3 * (found[0][i] + found[0][(i + kThreads) % kCount]));
}

TEST_F(Barriers, APhaseThatNeverEndsIsADeadlockAtTheInstructionThatWaits) {
    EXPECT_THAT(
        [&] {
            static_cast<void>(
                fixture_->run<std::uint32_t>("neighbours", 64, {numbers(kThreads), WordList(kThreads)}, {1U}));
        },
        testing::ThrowsMessage<DeviceError>(
            testing::AllOf(testing::HasSubstr("deadlock"),
                           testing::ContainsRegex("waits at [^\n]*SYNCS[^\n]* .for the end of a barrier's phase"))));
}

TEST_F(Barriers, APhaseEndsWithItsLastTransaction) {
    const auto found =
        fixture_->run<std::uint64_t>("transactions", kThreads, {std::vector<std::uint64_t>(kThreads)})[0];
    for (std::uint32_t i = 0; i < kThreads; ++i) {
        EXPECT_EQ(found[i] & 0xF, 0U) << "64 bytes are missing";
        EXPECT_EQ(found[i] >> 4 & 0xF, 1U);
    }
    // The tokens say how many arrivals were missing before: three for one thread, and one less for the other.
    const std::uint64_t first = found[0] >> 8, second = found[32] >> 8;
    EXPECT_TRUE((first == 3 && second == 2) || (first == 1 && second == 3)) << first << ", " << second;
}

}  // namespace
}  // namespace gputomo::sim
