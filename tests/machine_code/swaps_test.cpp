// Words that threads of several SMs compare and swap, and what loads see that an SM's own cache serves.
#include "launched.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace gputomo::sim {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::uint32_t>;

const Fixture& fixture() {
    static const Fixture swaps("swaps.cubin");
    return swaps;
}

std::uint64_t sum(const Words& words) { return std::accumulate(words.begin(), words.end(), std::uint64_t{0}); }

TEST(Swaps, AnSmsOwnCacheShowsOldValuesUntilTheSmHasReasonToAskAgain) {
    const auto results = fixture().run<std::uint32_t>("looks", 1, {{0, 0, 0, 0}, Words(64), Words(5)}, {}, 2);
    // Seen again from the cache; after an atomic on the line; from the cache; after a fence.
    EXPECT_THAT(results[2], ElementsAre(0, 0, 7, 7, 14));
    EXPECT_THAT(results[0], ElementsAre(14, 1, 0, 0));
}

TEST(Swaps, NoneIsLostWhoeverComesFirst) {
    constexpr std::uint32_t kBlocks = 12, kThreads = 64;
    for (const std::uint32_t lanes : {1U, 5U, 32U}) {
        const auto results =
            fixture().run<std::uint32_t>("counts", kThreads, {{0}, Words(kBlocks * kThreads)}, {lanes}, kBlocks);
        EXPECT_EQ(results[0][0], kBlocks * (kThreads / 32) * lanes);
        EXPECT_GE(sum(results[1]), results[0][0]);
    }
}

TEST(Swaps, ThreadsOfOneWarpSucceedOneByOne) {
    constexpr std::uint32_t kLanes = 32;
    const auto results = fixture().run<std::uint32_t>("counts", kLanes, {{0}, Words(kLanes)}, {kLanes});
    Words one_more(kLanes);
    std::iota(one_more.begin(), one_more.end(), 1);
    EXPECT_EQ(results[1], one_more);  // the lowest lane comes first
}

machine::Machine h200() { return completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine; }

/// Tries of all threads of these blocks, of which 8 threads of each warp count.
std::uint64_t tries_on(const machine::Machine& machine, std::uint32_t blocks, std::uint32_t threads) {
    const auto gpu = make_device(machine, {});
    std::ifstream file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/swaps.cubin", std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    const auto module = gpu->load(bytes.str());
    device::Buffer word(*gpu, Bytes(4)), tries(*gpu, Bytes(4 * static_cast<std::int64_t>(blocks * threads)));
    word.write(Words{0});
    device::Launch launch{.grid = {blocks}, .block = {threads}, .time_limit = std::chrono::seconds(60)};
    launch.arguments.add(word.address()).add(tries.address()).add(std::uint32_t{8});
    module->kernel("counts").launch(launch);
    EXPECT_EQ(word.read<std::uint32_t>(1)[0], blocks * threads / 4);
    return sum(tries.read<std::uint32_t>(blocks * threads));
}

TEST(Swaps, QueuesThatAreServedInTurnLetSomeWarpsComeSooner) {
    // In one queue, a warp that begins again waits for all others. In turns, the queue that has become short is soon
    // served again.
    auto machine = h200();
    machine.accesses["l2_atomic"].queue_scope.set(std::string("gpu"));
    const std::uint64_t one = tries_on(machine, 132, 32);
    machine.accesses["l2_atomic"].queue_scope.set(std::string("cpc"));
    EXPECT_LT(static_cast<double>(tries_on(machine, 132, 32)), 0.85 * static_cast<double>(one));
}

TEST(Swaps, LoadsWaitBehindTheSwapsOfTheirUnit) {
    constexpr std::uint32_t kFarAway = 2048;
    const auto cycles_of = [](std::uint32_t which) {
        return fixture().run<std::uint32_t>("beside", 128, {Words(2 * kFarAway), {0, 0}}, {which}, 132)[1][0];
    };
    EXPECT_GT(cycles_of(0), 3 * cycles_of(kFarAway));
}

TEST(Swaps, AThreadSeesItsOwnAtomicsInOrder) {
    constexpr std::uint32_t kThreads = 64;
    const auto results = fixture().run<std::uint32_t>("follows", kThreads, {Words(kThreads), Words(2 * kThreads)});
    EXPECT_EQ(results[1], Words(2 * kThreads, 6));
}

TEST(Swaps, ALaunchEndsWithTheAtomicsThatNobodyWaitsFor) {
    constexpr std::uint32_t kThreads = 256;
    const auto results = fixture().run<std::uint32_t>("ends", kThreads, {{0, 0}}, {}, 8);
    EXPECT_THAT(results[0], ElementsAre(8 * kThreads * (kThreads - 1) / 2, 0));
}

TEST(Swaps, AnUnknownScopeOfQueuesIsNamed) {
    auto machine = h200();
    machine.accesses["l2_atomic"].queue_scope.set(std::string("rack"));
    EXPECT_THAT([&] { (void)make_device(machine, {}); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("accesses.l2_atomic.queue_scope")));
}

}  // namespace
}  // namespace gputomo::sim
