// A GPU known from its description: what fits it, and how work on it is ended.
#include "answer/described_gpu.hpp"

#include "answer/fits.hpp"
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "machine/json.hpp"
#include "units/error.hpp"
#include "units/file.hpp"
#include "units/interruption.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace gputomo::answer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

machine::Machine shipped(const std::string& name) {
    return machine::load(GPUTOMO_SOURCE_DIR "/machines/" + name + ".json");
}

const DescribedGpu& h200_by_description() {
    static const DescribedGpu gpu(shipped("h200"), "h200");
    return gpu;
}

launch::Argument word_at(std::uint64_t offset, std::uint64_t value, std::size_t bytes) {
    launch::Argument argument{.offset = offset, .bytes = std::vector<std::byte>(bytes)};
    std::memcpy(argument.bytes.data(), &value, bytes);
    return argument;
}

/// Copies 64 bytes a thread and turn.
launch::Launch copy_launch(std::uint32_t turns) {
    constexpr std::uint32_t kBlocks = 264, kThreads = 256;
    constexpr std::uint64_t kStep = std::uint64_t{16} * kBlocks * kThreads;
    launch::Launch launch{
        .code = read_file(GPUTOMO_SOURCE_DIR "/tests/data/cubin/stream_copy_x4.sm_90.cubin", "a cubin"),
        .kernel = "stream_copy_x4",
        .origin = "copy.cubin",
        .grid = {kBlocks, 1, 1},
        .block = {kThreads, 1, 1},
        .results = {}};
    for (std::size_t i = 0; i < 2; ++i) {
        launch.buffers.push_back(
            {.name = "memory", .bytes = 4 * kStep * turns, .address = {}, .variable = {}, .fill = {}});
        launch.arguments.push_back({.offset = 8 * i, .bytes = std::vector<std::byte>(8), .buffer = i});
    }
    launch.arguments.push_back(word_at(16, kStep, 8));
    launch.arguments.push_back(word_at(24, turns, 4));
    return launch;
}

template <class Act>
std::string refused_because(Act&& act) {
    try {
        act();
    } catch (const InputError& e) {
        return e.what();
    }
    return "nothing was refused";
}

TEST(DescribedGpu, AnswersForItsDescription) {
    const auto& gpu = h200_by_description();
    EXPECT_EQ(gpu.sm(), 90);
    EXPECT_FALSE(gpu.assumed().empty()) << "a scan leaves open what simulation needs";
    const auto launch = copy_launch(2);
    gpu.check(launch, true);
    const auto answer = predict(launch, gpu.gpu(), {});
    EXPECT_EQ(answer.gpu, "NVIDIA H200");
    EXPECT_GT(answer.time.cycles, 0);
}

TEST(DescribedGpu, RefusesWhatDoesNotFit) {
    const auto& gpu = h200_by_description();
    auto launch = copy_launch(1);
    launch.block = {2048, 1, 1};
    EXPECT_THAT(refused_because([&] { gpu.check(launch, true); }),
                AllOf(HasSubstr("the block (2048, 1, 1)"), HasSubstr("at most 1024")));
    launch = copy_launch(1);
    launch.dynamic_shared = std::uint64_t{1} << 20;
    EXPECT_THAT(refused_because([&] { gpu.check(launch, true); }),
                AllOf(HasSubstr("the dynamic shared memory 1048576"), HasSubstr("at most 232448")));
    launch = copy_launch(1);
    launch.code = read_file(GPUTOMO_SOURCE_DIR "/tests/data/cubin/opcodes.sm_75.cubin", "a cubin");
    EXPECT_THAT(refused_because([&] { gpu.check(launch, true); }),
                AllOf(HasSubstr("copy.cubin"), HasSubstr("for sm_75"), HasSubstr("expected machine code for sm_90")));
    launch.code = ".version 7.0\n";
    EXPECT_THAT(refused_because([&] { gpu.check(launch, true); }), HasSubstr("is PTX; expected a cubin for sm_90"));
    EXPECT_NO_THROW(gpu.check(launch, false));
    const DescribedGpu old(shipped("gtx980"), "gtx980");
    EXPECT_THAT(refused_because([&] { old.check(copy_launch(1), true); }), HasSubstr("machine code is executed on"));
}

TEST(DescribedGpu, NamesWhatADescriptionLacks) {
    EXPECT_THAT(refused_because([] { (void)DescribedGpu(machine::Machine{}, "empty.json"); }), HasSubstr("empty.json"));
}

TEST(DescribedGpu, SaysWhereADescriptionIsMostlyOfAnotherGpu) {
    const DescribedGpu published(shipped("a100"), "a100");
    EXPECT_THAT(warnings_of(published.gpu(), 1e6),
                testing::ElementsAre(AllOf(HasSubstr("NVIDIA A100"), HasSubstr("from publications"),
                                           HasSubstr("How far this one is off is not known"))));
    EXPECT_THAT(warnings_of(published.gpu(), 3000), testing::Contains(HasSubstr("before and after the blocks")));
    EXPECT_TRUE(warnings_of(h200_by_description().gpu(), 3000).empty()) << "it was scanned";
}

TEST(DescribedGpu, SaysWhereMachineCodeStandsInForItsOwn) {
    const auto launch = copy_launch(1);  // sm_90
    EXPECT_FALSE(code_of_another_gpu(launch, shipped("h200")));
    EXPECT_THAT(code_of_another_gpu(launch, shipped("a100")).value_or(""),
                AllOf(HasSubstr("for sm_90"), HasSubstr("A100"), HasSubstr("(sm_80) does not execute")));
    const DescribedGpu newer(shipped("b200"), "b200");
    EXPECT_NO_THROW(newer.check(launch, true)) << "its own encoding is not known, and Hopper's stands in for it";
    const auto answer = predict(launch, newer.gpu(), {});
    EXPECT_GT(answer.time.cycles, 0);
    EXPECT_THAT(answer.warnings, testing::Contains(HasSubstr("NVIDIA B200 (sm_100) does not execute")));
    const DescribedGpu older(shipped("a100"), "a100");
    EXPECT_THAT(refused_because([&] { older.check(launch, true); }), HasSubstr("expected machine code for sm_80"));
    EXPECT_EQ(machine_code_for(100), 90);
    EXPECT_EQ(machine_code_for(89), 89);
    EXPECT_EQ(machine_code_for(52), 0);
}

/// The scope of the caller, say of Python's signals, ends both ways to an answer. Nothing is left behind: the next
/// answer is the same as without an interruption.
TEST(DescribedGpu, WorkOnItCanBeInterrupted) {
    const auto& gpu = h200_by_description();
    const auto launch = copy_launch(4);
    const auto cycles = predict(launch, gpu.gpu(), {}).time.cycles;
    {
        const InterruptionScope scope([] { throw Interrupted("enough"); });
        EXPECT_THROW((void)predict(launch, gpu.gpu(), {}), Interrupted);
        EXPECT_THROW((void)simulate(launch, gpu.gpu(), {}), Interrupted);
    }
    EXPECT_EQ(predict(launch, gpu.gpu(), {}).time.cycles, cycles);
}

}  // namespace
}  // namespace gputomo::answer
