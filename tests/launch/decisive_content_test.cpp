// Launches with memory whose content is made up: whether it decides what they execute.
#include "launch/profile/decisive_content.hpp"

#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::launch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A kernel with `buffers` arrays of 4 MiB as its first arguments.
Launch launch_of(const std::string& kernel, std::size_t buffers, bool made_up,
                 const std::string& cubin = "answer/fixtures/advice.cubin") {
    Launch launch{.code = read_file(GPUTOMO_SOURCE_DIR "/tests/" + cubin, "a cubin"),
                  .kernel = kernel,
                  .origin = {},
                  .grid = {64},
                  .block = {128},
                  .results = {}};
    for (std::size_t i = 0; i < buffers; ++i) {
        launch.arguments.push_back({.offset = 8 * i, .bytes = std::vector<std::byte>(8), .buffer = i});
        launch.buffers.push_back(
            {.name = "array " + std::to_string(i), .bytes = 4 << 20, .address = {}, .made_up = made_up});
    }
    return launch;
}

machine::Machine gpu() {
    machine::Machine machine;
    machine.topology.sms.set(100);
    machine.topology.max_threads_per_sm.set(2048);
    return machine;
}

TEST(DecisiveContent, IsNamedWhereItDecidesAddresses) {
    const auto found = decisive_content(launch_of("counter", 2, true), gpu());
    ASSERT_TRUE(found);
    EXPECT_THAT(*found,
                AllOf(HasSubstr("array 0"), HasSubstr("made up"), HasSubstr("block 0 accesses other addresses")));
}

TEST(DecisiveContent, IsNotNamedWhereItDecidesNothing) {
    for (const auto* const kernel : {"rows", "copy", "bytes"})
        EXPECT_FALSE(decisive_content(launch_of(kernel, 2, true), gpu())) << kernel;
}

TEST(DecisiveContent, GivenContentIsNotDoubted) {
    EXPECT_FALSE(decisive_content(launch_of("counter", 2, false), gpu()));
}

TEST(DecisiveContent, GeneratedNumbersAreComparedWithZeros) {
    auto launch = launch_of("counter", 2, true);
    launch.buffers[0].fill = [](std::span<std::byte> to) {
        for (std::size_t i = 0; i < to.size(); i += 4) to[i] = static_cast<std::byte>(i / 4 % 2);
    };
    EXPECT_TRUE(decisive_content(launch, gpu()));
}

/// A store depends on a product, so that the block is executed again with products. It must find its word free again:
/// where it is taken, the block ends at once.
TEST(DecisiveContent, IsLookedForInMemoryAsItWas) {
    const auto made_up = [](std::size_t buffer) {
        auto launch = launch_of("once", 3, false, "launch/fixtures/decisive.cubin");
        launch.block = {32};
        launch.buffers[buffer].made_up = true;
        return decisive_content(launch, gpu());
    };
    EXPECT_FALSE(made_up(2)) << "what is overwritten";
    const auto found = made_up(1);
    ASSERT_TRUE(found);
    EXPECT_THAT(*found, AllOf(HasSubstr("array 1"), HasSubstr("block 0 executes")));
}

/// The kernel reads the number of SMs and of the warps that an SM holds.
TEST(DecisiveContent, IsLookedForOnTheDescribedGpu) {
    EXPECT_FALSE(decisive_content(launch_of("registers", 1, true, "machine_code/fixtures/system.cubin"), gpu()));
}

}  // namespace
}  // namespace gputomo::launch
