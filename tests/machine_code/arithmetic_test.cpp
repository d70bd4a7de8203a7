// Arithmetic that few kernels use, and threads that meet elsewhere than they parted, against the host.
#include "launched.hpp"
#include "random_bits.hpp"
#include "sim/exec/half_format.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

namespace gputomo::sim {
namespace {

using WordList = std::vector<std::uint32_t>;

class Arithmetic : public testing::Test {
protected:
    static void SetUpTestSuite() { fixture_ = std::make_unique<Fixture>("arithmetic.cubin"); }
    static void TearDownTestSuite() { fixture_.reset(); }
    static inline std::unique_ptr<Fixture> fixture_;
};

/// The layouts of mma.sync for .f64, as the PTX ISA gives them. Elements are random, so that the sum's order shows.
void expect_product(const Fixture& fixture, const std::string& kernel, int rows, int depth) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    std::vector<double> in(32 * 16);
    for (double& value : in) value = normal(random);
    const auto found = fixture.run<double>(kernel, 32, {in, std::vector<double>(128)})[1];
    const auto a = [&](int row, int k) {
        const int lane = row % 8 * 4 + k % 4, place = k / 4 * (rows / 8) + row / 8;
        return in[static_cast<std::size_t>(lane * 16 + place)];
    };
    const auto b = [&](int k, int column) {
        return in[static_cast<std::size_t>((column * 4 + k % 4) * 16 + 8 + k / 4)];
    };
    for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < rows / 4; ++i) {
            double sum = in[static_cast<std::size_t>(lane * 16 + 12 + i)];
            for (int k = 0; k < depth; ++k) sum = std::fma(a(lane / 4 + i / 2 * 8, k), b(k, lane % 4 * 2 + i % 2), sum);
            EXPECT_EQ(found[static_cast<std::size_t>(lane * 4 + i)], sum) << kernel << ", lane " << lane << ", " << i;
        }
}

TEST_F(Arithmetic, MatricesOfDoublesAreMultiplied) {
    expect_product(*fixture_, "doubles_small", 8, 4);
    expect_product(*fixture_, "doubles_4", 16, 4);
    expect_product(*fixture_, "doubles_8", 16, 8);
    expect_product(*fixture_, "doubles_16", 16, 16);
}

template <class F>
void expect_halves(const Fixture& fixture, const std::string& kernel) {
    constexpr std::uint32_t kThreads = 64;
    WordList in = random_bits(2 * kThreads, 3);
    for (std::size_t i = 0; i < kThreads; i += 3) in[kThreads + i] = in[i];  // equal ones
    in[1] = F::kNaN;
    in[kThreads + 1] = 0x80000000;
    const auto found = fixture.run<std::uint32_t>(kernel, kThreads, {in, WordList(4 * kThreads)})[1];
    const std::uint32_t one = rounded<F>(1.0);
    for (std::size_t i = 0; i < kThreads; ++i)
        for (int part = 0; part < 2; ++part) {
            const auto half = [&](std::uint32_t word) { return static_cast<std::uint16_t>(word >> (16 * part)); };
            const double a = value_of<F>(half(in[i])), b = value_of<F>(half(in[kThreads + i]));
            EXPECT_EQ(half(found[i]), a < b ? one : 0) << a << " < " << b;
            EXPECT_EQ(half(found[kThreads + i]), !(a < b) ? one : 0) << a << " >= " << b;
            const double sum = odd_sum(a * b, a);
            EXPECT_EQ(half(found[2 * kThreads + i]), std::isnan(sum) ? F::kNaN : sum > 0 ? rounded<F>(sum) : 0);
            EXPECT_EQ(half(found[3 * kThreads + i]), a < b || a > b ? 0xFFFF : 0) << a << " != " << b;
        }
}

TEST_F(Arithmetic, HalvesAreComparedAndClampedAtZero) {
    expect_halves<F16>(*fixture_, "halves");
    expect_halves<BF16>(*fixture_, "bfloats");
}

TEST_F(Arithmetic, PackedIntegersDoNotCarryIntoOneAnother) {
    constexpr std::uint32_t kThreads = 64;
    const WordList in = random_bits(3 * kThreads, 4);
    const auto found = fixture_->run<std::uint32_t>("packed", kThreads, {in, WordList(10 * kThreads)})[1];
    for (std::size_t i = 0; i < kThreads; ++i) {
        const std::uint32_t a = in[i], b = in[kThreads + i], c = in[2 * kThreads + i];
        const auto halves = [&](auto&& function) {
            std::uint32_t word = 0;
            for (const int at : {0, 16}) {
                const auto half = [&](std::uint32_t from) { return static_cast<std::int16_t>(from >> at); };
                word |= std::uint32_t{static_cast<std::uint16_t>(function(half(a), half(b), half(c)))} << at;
            }
            return word;
        };
        const auto sum = [](int x, int y) { return int{static_cast<std::int16_t>(x + y)}; };
        const auto plain = [](int x) { return int{static_cast<std::uint16_t>(x)}; };
        std::uint32_t differences = 0, total = 0;
        for (int at = 0; at < 32; at += 8) {
            const auto byte = [&](std::uint32_t from) { return static_cast<int>(from >> at & 0xFF); };
            const auto difference = static_cast<std::uint32_t>(std::abs(byte(a) - byte(b)));
            differences |= difference << at;
            total += difference;
        }
        const std::array<std::uint32_t, 10> expected{
            halves([](int x, int y, int) { return std::max(x, y); }),
            halves([&](int x, int y, int) { return std::min(plain(x), plain(y)); }),
            halves([](int x, int y, int z) {
                return std::max({x, y, z});
            }),
            halves([&](int x, int y, int z) { return std::max(sum(x, y), z); }),
            halves([](int x, int y, int) { return std::max(std::min(x, y), 0); }),
            halves([&](int x, int y, int z) { return std::min(plain(sum(x, y)), plain(z)); }),
            halves([&](int x, int y, int) { return sum(x, y); }),
            differences,
            total,
            halves([](int x, int y, int z) {
                return std::max(std::min({x, y, z}), 0);
            })};
        for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(found[k * kThreads + i], expected[k]) << k;
    }
}

TEST_F(Arithmetic, FloatsAreRoundedToTenBitsOfFraction) {
    WordList in = random_bits(64, 5);
    in[0] = 0x3F801000;  // a tie that goes down to even
    in[1] = 0x3F803000;  // a tie that goes up to even
    in[2] = 0x7F800000;
    in[3] = 0x7FC00000;
    in[4] = 0xBF800FFF;
    in[5] = 0x7F7FFFFF;  // becomes infinite
    const auto found = fixture_->run<std::uint32_t>("tensor_floats", 64, {in, WordList(3 * 64)})[1];
    EXPECT_THAT((WordList{found[0], found[1], found[2], found[3], found[4], found[5]}),
                testing::ElementsAre(0x3F800000, 0x3F804000, 0x7F800000, 0x7FFFE000, 0xBF800000, 0x7F800000));
    for (std::size_t i = 0; i < 64; ++i) {
        const auto value = std::bit_cast<float>(in[i]);
        if (!std::isfinite(value)) continue;
        EXPECT_EQ(found[64 + i], in[i] & 0xFFFFE000);
        EXPECT_EQ(found[2 * 64 + i], value > 0 ? found[i] : 0);
        const double unit = std::ldexp(1.0, std::max(std::ilogb(value), -126) - 10);
        const auto nearest = static_cast<float>(std::nearbyint(static_cast<double>(value) / unit) * unit);
        EXPECT_EQ(std::bit_cast<float>(found[i]), nearest) << value;
    }
}

TEST_F(Arithmetic, ThreadsOfAWarpMeetInGroups) {
    constexpr std::uint32_t kThreads = 32;
    WordList in(kThreads);
    for (std::uint32_t i = 0; i < kThreads; ++i) in[i] = i * 5 % 11;
    const auto found = fixture_->run<std::uint32_t>("groups", kThreads, {in, WordList(4 * kThreads)})[1];
    const auto count = [&](auto&& holds) { return static_cast<std::uint32_t>(std::ranges::count_if(in, holds)); };
    const std::uint32_t first = *std::ranges::find_if(in, [](std::uint32_t x) { return x > 3; });
    std::uint32_t rank = 0;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
        const bool more = in[i] > 3;
        EXPECT_EQ(found[i], more ? 100 * rank + count([](std::uint32_t x) { return x > 3; }) : 0);
        EXPECT_EQ(found[kThreads + i], more ? first : 0);
        EXPECT_EQ(found[2 * kThreads + i], count([&](std::uint32_t x) { return x % 4 == in[i] % 4; }));
        EXPECT_EQ(found[3 * kThreads + i], in[i] % 2 != 0 ? count([](std::uint32_t x) { return x % 2 != 0; }) : 0);
        rank += static_cast<std::uint32_t>(more);
    }
}

TEST_F(Arithmetic, ConvergenceBarriersSurviveRecursion) {
    WordList in(32);
    for (std::uint32_t i = 0; i < 32; ++i) in[i] = i * 7 % 13;
    const std::function<std::uint32_t(std::uint32_t, int)> depth_of = [&](std::uint32_t at, int level) {
        std::uint32_t sum = 0;
        for (std::uint32_t k = 0; k < in[at] % 4; ++k)
            sum += in[(at + k) % 32] % 2 != 0 && level > 0 ? depth_of((at * 5 + k + 1) % 32, level - 1)
                                                           : in[(at + 2 * k) % 32] % 8;
        return sum + 1;
    };
    const auto found = fixture_->run<std::uint32_t>("recursion", 64, {in, WordList(64)}, {4})[1];
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(found[i], depth_of(i % 32, 4)) << i;
}

}  // namespace
}  // namespace gputomo::sim
