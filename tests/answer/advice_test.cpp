// Advice for kernels whose fault is known (fixtures/advice.cu), and for one without any.
#include "answer/answer_text.hpp"
#include "answer/predict.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

namespace gputomo::answer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The bytes of a buffer, or a number.
using AdviceArgument = std::variant<std::uint64_t, std::int32_t>;

struct Faulty {
    const char* kernel;
    device::Dim3 grid, block;
    std::vector<AdviceArgument> arguments;
    std::uint64_t shared = 0;
};

constexpr std::uint64_t kMega = 1 << 20;

Answer advised(const Faulty& faulty, Advising advising = Advising::tried) {
    static const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    static const auto code = read_file(GPUTOMO_SOURCE_DIR "/tests/answer/fixtures/advice.cubin", "a cubin");
    launch::Launch launch;
    launch.code = code;
    launch.kernel = faulty.kernel;
    launch.grid = faulty.grid;
    launch.block = faulty.block;
    launch.dynamic_shared = faulty.shared;
    for (const auto& argument : faulty.arguments) {
        launch::Argument to{.offset = 8 * launch.arguments.size(), .bytes = std::vector<std::byte>(8), .buffer = {}};
        if (const auto* const bytes = std::get_if<std::uint64_t>(&argument)) {
            to.buffer = launch.buffers.size();
            launch.buffers.push_back({.name = "an array", .bytes = *bytes, .address = {}});
        } else {
            to.bytes.resize(4);
            std::memcpy(to.bytes.data(), std::get_if<std::int32_t>(&argument), 4);
        }
        launch.arguments.push_back(to);
    }
    return predict(launch, {machine, "sim:h200"}, {}, {}, advising);
}

struct Expected {
    Faulty faulty;
    std::string advice;    ///< the best
    double least, most;    ///< its factor
    std::string concerns;  ///< part of the first instruction that it names
};

class AdviceOf : public testing::TestWithParam<Expected> {};

TEST_P(AdviceOf, AKnownFaultIsTheBest) {
    const auto& expected = GetParam();
    const auto answer = advised(expected.faulty);
    ASSERT_TRUE(answer.advice);
    ASSERT_FALSE(answer.advice->empty());
    const auto& best = answer.advice->front();
    EXPECT_EQ(best.id, expected.advice);
    EXPECT_GE(best.factor, expected.least);
    EXPECT_LE(best.factor, expected.most);
    if (expected.concerns.empty()) return;
    ASSERT_FALSE(best.instructions.empty());
    EXPECT_THAT(best.instructions.front().text, HasSubstr(expected.concerns));
    EXPECT_TRUE(std::ranges::is_sorted(*answer.advice, std::ranges::greater(), &Advice::factor));
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, AdviceOf,
    testing::Values(
        // 32 ways become one, and loads are three quarters of what is left.
        Expected{{"conflicts", {528}, {256}, {kMega, 256}}, "bank_conflicts", 8, 32, "LDS"},
        // 4 of 64 bytes that DRAM reads, so that it is at most 16 times. A third of the time is before the first block.
        Expected{{"rows", {2112}, {256}, {192 * kMega, 4 * kMega}}, "coalesced", 1.4, 16, "LDG"},
        // All bytes are used, so that DRAM alone takes 118 thousand of the 529 thousand cycles whatever a warp loads.
        Expected{{"row_sums", {528}, {256}, {264 * kMega, kMega, 512}}, "coalesced", 3, 4.5, "LDG"},
        Expected{{"transpose", {64, 64}, {32, 8}, {16 * kMega, 16 * kMega, 2048}}, "coalesced", 3, 9, "STG"},
        Expected{{"few_warps", {528}, {128}, {17 * kMega, kMega, 64}, 65536}, "more_warps", 1.3, 2, ""},
        // Wide accesses leave the number of blocks as it is, and blocks that start take more than half of the time.
        Expected{{"bytes", {33792}, {256}, {9 * kMega, 9 * kMega}}, "wide_accesses", 1.5, 16, "LDG.E.U8"},
        // Half of the threads of a warp have nothing to do in the mean.
        Expected{{"uneven", {528}, {256}, {kMega, 32}}, "divergence", 1.6, 2.05, ""},
        Expected{{"spilled", {1056}, {256}, {2 * kMega, 2 * kMega, 64}}, "spills", 3, 20, "L"},
        // The 8 warps of a block add to one number.
        Expected{{"counter", {4224}, {256}, {5 * kMega, std::uint64_t{64}}}, "atomics", 8, 256, "ADD"}),
    [](const auto& info) { return std::string(info.param.faulty.kernel); });

TEST(Advice, AGoodKernelHasNone) {
    const auto answer = advised({"copy", {16896}, {256}, {68 * kMega, 68 * kMega}});
    ASSERT_TRUE(answer.advice);
    EXPECT_THAT(*answer.advice, IsEmpty());
    EXPECT_THAT(answer_text(answer), HasSubstr("no change that was tried makes it faster by 5%"));
}

TEST(Advice, IsInTextAndJson) {
    const auto answer = advised({"uneven", {528}, {256}, {kMega, 32}});
    const auto json = answer_json(answer);
    EXPECT_EQ(json["advice"][0]["id"], "divergence");
    EXPECT_EQ(json["advice"][0]["factor"], answer.advice->front().factor);
    EXPECT_THAT(answer_text(answer), HasSubstr("times as fast with all threads of each warp at work, where 50% are"));
}

TEST(Advice, IsNullWhereItWasNotTried) {
    const auto answer = advised({"uneven", {528}, {256}, {kMega, 32}}, Advising::none);
    EXPECT_FALSE(answer.advice);
    EXPECT_TRUE(answer_json(answer)["advice"].is_null());
    EXPECT_EQ(advised({"uneven", {528}, {256}, {kMega, 32}}).time.cycles, answer.time.cycles)
        << "trying changes leaves the prediction as it is";
}

/// Whatever is changed, the work stays what it is: where nothing is at fault, no change is offered.
TEST(Advice, OffersNothingThatDoesNotApply) {
    const auto answer = advised({"rows", {2112}, {256}, {192 * kMega, 4 * kMega}});
    for (const auto& one : *answer.advice) {
        EXPECT_NE(one.id, "bank_conflicts") << "it has no shared memory";
        EXPECT_NE(one.id, "barriers");
        EXPECT_NE(one.id, "atomics");
        EXPECT_NE(one.id, "spills");
        EXPECT_NE(one.id, "wide_accesses") << "its accesses do not lie side by side";
    }
}

}  // namespace
}  // namespace gputomo::answer
