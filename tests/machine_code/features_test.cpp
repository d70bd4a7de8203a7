// Kernels with asynchronous copies, matrix instructions, printf, assert and indirect calls, as machine code with
// timing.
#include "launched.hpp"
#include "random_bits.hpp"

#include "machine/json.hpp"
#include "sim/completion.hpp"
#include "sim/exec/half_format.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <functional>
#include <sstream>

namespace gputomo::sim {
namespace {

using WordList = std::vector<std::uint32_t>;

class Features : public testing::Test {
protected:
    static void SetUpTestSuite() {
        gpu_ = make_device(completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine, {});
        std::ifstream file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/features.cubin", std::ios::binary);
        std::stringstream bytes;
        bytes << file.rdbuf();
        module_ = gpu_->load(bytes.str());
    }
    static void TearDownTestSuite() {
        module_.reset();
        gpu_.reset();
    }

    /// Launches a kernel whose first parameters are buffers, and returns what is in them afterwards.
    static std::vector<WordList> run(const std::string& kernel, device::Dim3 grid, device::Dim3 block,
                                     const std::vector<WordList>& contents,
                                     const std::vector<std::uint32_t>& scalars = {}) {
        std::vector<device::Buffer> buffers;
        device::Launch launch{.grid = grid, .block = block, .time_limit = std::chrono::seconds(60)};
        for (const auto& words : contents) {
            buffers.emplace_back(*gpu_, Bytes(static_cast<std::int64_t>(4 * words.size())));
            buffers.back().write(words);
            launch.arguments.add(buffers.back().address());
        }
        for (const auto scalar : scalars) launch.arguments.add(scalar);
        module_->kernel(kernel).launch(launch);
        std::vector<WordList> results;
        for (std::size_t i = 0; i < buffers.size(); ++i)
            results.push_back(buffers[i].read<std::uint32_t>(contents[i].size()));
        return results;
    }

    static inline std::unique_ptr<SimulatedDevice> gpu_;
    static inline std::unique_ptr<device::Module> module_;
};

/// Halves from -4 to 4 in steps of a half, whose products and sums are exact.
WordList small_halves(std::size_t count, std::uint32_t seed) {
    WordList words = random_bits(count, seed);
    for (auto& word : words) {
        const auto half = [](std::uint32_t bits) {
            return std::uint32_t{rounded<F16>((static_cast<double>(bits % 17) - 8) / 2)};
        };
        word = half(word & 0xFFFF) | half(word >> 16) << 16;
    }
    return words;
}

double half_at(const WordList& words, std::size_t index) {
    return value_of<F16>(static_cast<std::uint16_t>(words[index / 2] >> (16 * (index % 2))));
}

TEST_F(Features, CopiesToSharedMemoryAreWaitedFor) {
    constexpr std::size_t kBlocks = 3, kTiles = 6, kThreads = 128;
    WordList in(kBlocks * kTiles * kThreads * 4);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i * 7 % 101));
    const auto found = run("copies", {kBlocks}, {kThreads}, {in, WordList(kBlocks * kThreads * 4)}, {kTiles});
    for (std::size_t block = 0; block < kBlocks; ++block)
        for (std::size_t thread = 0; thread < kThreads; ++thread)
            for (std::size_t word = 0; word < 4; ++word) {
                float sum = 0;
                for (std::size_t tile = 0; tile < kTiles; ++tile)
                    sum += std::bit_cast<float>(
                        in[((block * kTiles + tile) * kThreads + kThreads - 1 - thread) * 4 + word]);
                EXPECT_EQ(std::bit_cast<float>(found[1][(block * kThreads + thread) * 4 + word]), sum);
            }
    // Each of the tiles comes from memory, and the copy of the next one is in flight while one is added.
    const auto latency = static_cast<std::uint64_t>(
        *completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine.paths.at("global").memory_latency);
    EXPECT_GT(gpu_->counters().cycles, (kTiles / 2 + 1) * latency);
    EXPECT_LT(gpu_->counters().cycles, (kTiles + 2) * latency);
}

/// cp.async with a size of 0 for the threads from `n` on, and one that ignores its source for those before.
TEST_F(Features, CopiesThatAreIgnoredLeaveZeros) {
    const auto found = run("ignored", {1}, {64}, {random_bits(64 * 4, 5), WordList(64), WordList(64)}, {40});
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_EQ(found[1][i], i < 40 ? found[0][4 * i] : 0) << i;
        EXPECT_EQ(found[2][i], i < 40 ? 0 : found[0][4 * i]) << i;
    }
}

/// The addresses of the threads from `n` on lie behind the array, where nothing is allocated.
TEST(PartialCopies, ReadNothingBehindTheArray) {
    const Fixture fixture("partial_copy.cubin");
    constexpr std::uint32_t kElements = 8;
    const auto in = random_bits(std::size_t{4} * kElements, 5);
    const auto found = fixture.run<std::uint32_t>("partial_copy", 64, {in, WordList(64)}, {kElements});
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(found[1][i], i < kElements ? in[4 * i] : 0) << i;
}

TEST_F(Features, MatricesOfHalvesAreMultiplied) {
    constexpr std::size_t kDepth = 64, kSize = 16;
    const auto a = small_halves(kSize * kDepth / 2, 1), b = small_halves(kSize * kDepth / 2, 2);
    const auto found = run("wmma_half", {1}, {32}, {a, b, WordList(kSize * kSize)}, {kDepth});
    for (std::size_t row = 0; row < kSize; ++row)
        for (std::size_t column = 0; column < kSize; ++column) {
            double sum = 0;
            for (std::size_t k = 0; k < kDepth; ++k)
                sum += half_at(a, row * kDepth + k) * half_at(b, column * kDepth + k);
            EXPECT_EQ(std::bit_cast<float>(found[2][row * kSize + column]), static_cast<float>(sum));
        }
}

/// The layouts of mma.sync: m16n8k32 of signed bytes, then m16n8k16 of unsigned and signed bytes.
TEST_F(Features, MatricesOfBytesAreMultiplied) {
    const auto in = random_bits(256, 3);
    const auto found = run("mma_kinds", {1}, {32}, {in, WordList(128), WordList(128)});
    const auto byte = [&](std::size_t word, std::size_t place) { return in[word] >> (8 * place) & 0xFF; };
    const auto with_sign = [](std::uint32_t bits) { return static_cast<std::int32_t>(static_cast<std::int8_t>(bits)); };
    for (std::size_t lane = 0; lane < 32; ++lane)
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t g = lane / 4, upper = i / 2, column = lane % 4 * 2 + i % 2;
            std::int32_t sum = static_cast<std::int32_t>(i) + 1;
            for (std::size_t k = 0; k < 32; ++k) {
                const std::size_t part = k / 16, place = k % 16 / 4;
                sum += with_sign(byte((g * 4 + place) * 8 + upper + 2 * part, k % 4)) *
                       with_sign(byte((column * 4 + place) * 8 + 4 + part, k % 4));
            }
            for (std::size_t k = 0; k < 16; ++k)
                sum += static_cast<std::int32_t>(byte((g * 4 + k / 4) * 8 + upper, k % 4)) *
                       with_sign(byte((column * 4 + k / 4) * 8 + 4, k % 4));
            EXPECT_EQ(static_cast<std::int32_t>(found[2][lane * 4 + i]), sum) << "lane " << lane << ", " << i;
        }
}

TEST_F(Features, MatricesAreLoadedTransposedAndStored) {
    const auto in = random_bits(128, 4);
    const auto found = run("ldst_matrix", {1}, {32}, {in, WordList(160)})[1];
    const auto half = [&](std::size_t index) { return in[index / 2] >> (16 * (index % 2)) & 0xFFFF; };
    for (std::size_t lane = 0; lane < 32; ++lane) {
        // The four matrices are stored in the opposite order.
        for (std::size_t matrix = 0; matrix < 4; ++matrix)
            EXPECT_EQ(found[matrix * 32 + lane], in[(3 - matrix) * 32 + lane]);
        const std::size_t row = lane % 4 * 2, column = lane / 4;
        EXPECT_EQ(found[128 + lane], half(row * 8 + column) | half((row + 1) * 8 + column) << 16);
    }
}

TEST_F(Features, PrintfReturnsAndAssertNamesItsCondition) {
    const auto found = run("prints", {1}, {64}, {WordList(64)}, {5});
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(found[0][i], i + 5);
    try {
        (void)run("prints", {1}, {64}, {WordList(64)}, {0});
        FAIL() << "the assertion held";
    } catch (const DeviceError& error) {
        EXPECT_THAT(error.what(),
                    testing::AllOf(testing::HasSubstr("launch of prints"),
                                   testing::HasSubstr("assertion 'n > 0' failed"), testing::HasSubstr("CALL.ABS")));
    }
}

TEST_F(Features, FunctionsAreCalledThroughPointers) {
    const auto found = run("indirect", {1}, {64}, {WordList(64)});
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(found[0][i], i % 2 == 0 ? 3 * i + 1 : i * i);
    EXPECT_EQ(gpu_->counters().warp_instructions % 2, 0U) << "two warps do the same";
}

}  // namespace
}  // namespace gputomo::sim
