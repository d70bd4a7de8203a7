// What threads ask of the system: printf() and special registers.
#include "launched.hpp"

#include <gmock/gmock.h>

namespace gputomo::sim {
namespace system_test {
namespace {

using WordList = std::vector<std::uint32_t>;

TEST(Printf, GivesWhatTheHostWouldPrint) {
    const Fixture fixture("system.cubin");
    device::Buffer text(*fixture.gpu, Bytes(16)), results(*fixture.gpu, Bytes(2 * 12 * 4));
    text.write(std::vector<char>{'a', 'b', 'c', '\0'});
    device::Launch launch{.grid = {1}, .block = {2}, .time_limit = std::chrono::seconds(60)};
    launch.arguments.add(results.address());
    launch.arguments.add(1.25);
    launch.arguments.add(std::int64_t{-3});
    launch.arguments.add(text.address());
    fixture.module->kernel("formats").launch(launch);
    const auto both = [](const std::string& line) { return line + line; };
    EXPECT_EQ(fixture.gpu->executed_code().printed.text(),
              "thread 0 of block 0:  0.00 1.250000e+00 1.25 0x1.4p+0\n"
              "thread 1 of block 0:  1.25 1.250000e+00 1.25 0x1.4p+0\n" +
                  both("-3 18446744073709551613 fffffffffffffffd -3 18446744073709551613 4464 0xff 10 BEEF\n") +
                  both("[   42|42   |00042|+42| 42|    42|abc|     right|left      |x|%|-7]\n") +
                  both("no arguments\n") + both("0x1234 text abc\n") + both("3% 0.100000\n") + both("%.*f %q 7 end\n") +
                  both("1.500000 3.500000e+00 4.5\n"));
    const auto counts = results.read<std::int32_t>(12);
    EXPECT_THAT(std::vector(counts.begin(), counts.begin() + 8), testing::ElementsAre(6, 9, 12, 0, 3, 2, 1, 3));
}

TEST(Printf, FollowsTheArmsOfABranch) {
    const Fixture fixture("system.cubin");
    (void)fixture.run<std::uint32_t>("arms", 4, {});
    EXPECT_THAT(fixture.gpu->executed_code().printed.text(),
                testing::AnyOf("odd 1\nodd 3\neven 0\neven 2\n", "even 0\neven 2\nodd 1\nodd 3\n"));
    (void)fixture.run<std::uint32_t>("arms", 1, {});
    EXPECT_EQ(fixture.gpu->executed_code().printed.text(), "even 0\n") << "the text of the launch before is gone";
}

TEST(Printf, IsCutOffAfterAMebibyte) {
    const Fixture fixture("system.cubin");
    (void)fixture.run<std::uint32_t>("much", 32, {WordList(32 * 12)}, {}, 12);
    const machine_code::Printed& printed = fixture.gpu->executed_code().printed;
    EXPECT_EQ(printed.text().size(), machine_code::Printed::kMost);
    EXPECT_EQ(printed.lost(), 32 * 12 - machine_code::Printed::kMost / 4096);
}

TEST(SpecialRegisters, SayWhichWarpOfWhichSmItIs) {
    const Fixture fixture("system.cubin");
    constexpr std::uint32_t kBlocks = 300, kWarps = 4, kWords = 8;
    const auto& machine = fixture.gpu->machine();
    const auto sms = static_cast<std::uint32_t>(*machine.topology.sms);
    const auto warps_of_sm = static_cast<std::uint32_t>(*machine.topology.max_threads_per_sm) / kWarpSize;
    const std::vector<WordList> zeros{WordList(kBlocks * kWarps * kWords)};
    const auto found = fixture.run<std::uint32_t>("registers", kWarps * kWarpSize, zeros, {}, kBlocks);
    for (std::uint32_t warp = 0; warp < kBlocks * kWarps; ++warp) {
        const auto* const words = &found[0][warp * kWords];
        EXPECT_LT(words[0], sms);
        EXPECT_LT(words[1], warps_of_sm);
        EXPECT_EQ(words[2], warps_of_sm);
        EXPECT_EQ(words[3], sms);
        EXPECT_EQ(words[4], 0U) << "no dynamic shared memory";
        EXPECT_EQ(words[5], 0U);
        EXPECT_EQ(words[6], 1U);
        EXPECT_EQ(words[7], 0x120U);
        const auto* const first = &found[0][warp / kWarps * kWarps * kWords];
        EXPECT_EQ(words[0], first[0]) << "the warps of a block are on one SM";
        for (const auto* other = first; other != words; other += kWords) EXPECT_NE(other[1], words[1]);
    }
}

}  // namespace
}  // namespace system_test
}  // namespace gputomo::sim
