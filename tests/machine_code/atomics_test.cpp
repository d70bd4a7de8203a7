// Atomics that a compiler makes up of other instructions, with timing and without.
#include "launched.hpp"

#include "machine/json.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <sstream>

namespace gputomo::sim {
namespace {

using testing::ElementsAre;

/// What a kernel of one block of 64 threads leaves in its first words.
std::vector<std::uint32_t> left_by(const std::string& kernel, std::size_t words) {
    const auto gpu = make_device(completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine, {});
    std::ifstream file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/atomics.cubin", std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    const auto module = gpu->load(bytes.str());
    device::Buffer out(*gpu, Bytes(static_cast<std::int64_t>(4 * words)));
    out.write(std::vector<std::uint32_t>(words, 0));
    device::Launch launch{.grid = {1}, .block = {64}, .time_limit = std::chrono::seconds(5)};
    launch.arguments.add(out.address());
    module->kernel(kernel).launch(launch);
    return out.read<std::uint32_t>(words);
}

TEST(Atomics, SumsOfHalvesAtGenericAddressesCountOnce) {
    // Eight threads add the halves 1 and 2 to each place: first those in shared memory, then those in global memory.
    EXPECT_THAT(left_by("half_sums", 8), testing::Each(0x4C004800U));
}

TEST(Atomics, SumsOfFloatsAtGenericAddressesCountOnce) {
    EXPECT_THAT(left_by("float_sums", 8), testing::Each(std::bit_cast<std::uint32_t>(12.0F)));
}

TEST(Atomics, SumsOf64BitsInSharedMemoryEndWithEachThread) {
    // 16 threads add 2^32 + 1 to 2^32 - 2: the low word overflows once.
    EXPECT_THAT(left_by("wide_sums", 8), ElementsAre(14, 17, 14, 17, 14, 17, 14, 17));
}

}  // namespace
}  // namespace gputomo::sim
