// Profiles of launches: counts that the kernels of fixtures/profiled.cu make known, and what is refused.
#include "launch/profile/profile.hpp"
#include "launch/prepared_launch.hpp"
#include "machine/json.hpp"
#include "predict/launch/launch_prediction.hpp"
#include "sass/code.hpp"
#include "sass/cubin.hpp"
#include "sim/completion.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace gputomo::launch {
namespace {

using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string message_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

class Profile : public testing::Test {
protected:
    static void SetUpTestSuite() {
        code_ = read_file(GPUTOMO_SOURCE_DIR "/tests/launch/fixtures/profiled.cubin", "a cubin");
        machine_ = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    }

    /// Memory of zeros for the launches that follow.
    device::Address buffer(std::uint64_t bytes) {
        constexpr device::Address kFirst = 0x7fc000000000, kApart = 1 << 28;
        buffers_.push_back({.name = "buffer", .bytes = bytes, .address = kFirst + buffers_.size() * kApart});
        return *buffers_.back().address;
    }

    /// Gives the last buffer its content.
    template <class T>
    void hold(const std::vector<T>& values) {
        buffers_.back().fill = [values](std::span<std::byte> to) {
            std::memcpy(to.data(), values.data(), values.size() * sizeof(T));
        };
    }

    template <class... Arguments>
    LaunchProfile profiled(const std::string& kernel, device::Dim3 grid, device::Dim3 block, Arguments... arguments) {
        return profiled_within({}, kernel, grid, block, arguments...);
    }

    template <class... Arguments>
    LaunchProfile profiled_within(const Sampling& sampling, const std::string& kernel, device::Dim3 grid,
                                  device::Dim3 block, Arguments... arguments) {
        Launch launch{.code = code_, .kernel = kernel, .grid = grid, .block = block, .buffers = buffers_};
        const auto add = [&](const auto& value) {
            const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
            const auto end =
                launch.arguments.empty() ? 0 : launch.arguments.back().offset + launch.arguments.back().bytes.size();
            launch.arguments.push_back({.offset = (end + sizeof value - 1) / sizeof value * sizeof value,
                                        .bytes = {bytes, bytes + sizeof value}});
        };
        (add(arguments), ...);
        prepared_ = std::make_unique<PreparedLaunch>(launch);
        return profile_launch(*prepared_, machine_, sampling);
    }

    template <class... Arguments>
    predict::LaunchPrediction predicted(const std::string& kernel, device::Dim3 grid, device::Dim3 block,
                                        Arguments... arguments) {
        return predict::predict_launch(profiled(kernel, grid, block, arguments...), machine_, "h200");
    }

    static inline std::string code_;
    static inline machine::Machine machine_;
    std::vector<Buffer> buffers_;
    std::unique_ptr<PreparedLaunch> prepared_;  ///< the last one
};

TEST_F(Profile, LoopRunsAsOftenAsAnArgumentSays) {
    const auto in = buffer(1 << 20), out = buffer(1 << 20);
    const auto loads = [&](int turns) {
        return profiled("loop", {16}, {32}, in, out, turns).sampled.front().load_sectors;
    };
    EXPECT_EQ(loads(7), 7 * 4);
    EXPECT_EQ(loads(500), 500 * 4);
    const auto instructions = [&](int turns) {
        return profiled("loop", {16}, {32}, in, out, turns).sampled.front().instructions;
    };
    const double each = instructions(101) - instructions(100);
    EXPECT_GT(each, 3);
    EXPECT_EQ(instructions(1100) - instructions(100), 1000 * each);
}

TEST_F(Profile, DivergentBranchCountsTheThreadsThatTakeIt) {
    const auto out = buffer(1 << 20);
    const auto of = [&](int turns) { return profiled("diverge", {4}, {64}, out, turns).sampled.front(); };
    const auto few = of(100), many = of(300);
    const double warps = many.instructions - few.instructions;
    const double threads = many.thread_instructions - few.thread_instructions;
    EXPECT_NEAR(threads / warps, (32 + 8) / 2.0, 0.01);
}

TEST_F(Profile, StrideDecidesLinesAndSectors) {
    const auto in = buffer(64 << 20), out = buffer(1 << 20);
    const auto of = [&](int stride) { return profiled("strided", {8}, {32}, in, out, stride).sampled.front(); };
    EXPECT_EQ(of(1).transactions, 1 + 1);
    EXPECT_EQ(of(2).transactions, 2 + 1);
    EXPECT_EQ(of(2).load_sectors, 8);
    EXPECT_EQ(of(8).load_sectors, 32);
    EXPECT_EQ(of(8).transactions, 8 + 1);
    EXPECT_EQ(of(32).transactions, 32 + 1);
    EXPECT_EQ(of(32).store_sectors, 4);
}

TEST_F(Profile, BankConflictsTakeAsLongAsTheirWays) {
    const auto out = buffer(1 << 20);
    const auto ways = [&](int stride) {
        const auto block = profiled("conflicts", {8}, {32}, out, stride).sampled.front();
        EXPECT_EQ(block.shared_accesses, 2);
        return block.bank_cycles / block.shared_accesses;
    };
    EXPECT_EQ(ways(1), 1);
    EXPECT_EQ(ways(2), 2);
    EXPECT_EQ(ways(32), 32);
    EXPECT_EQ(ways(33), 1);
}

TEST_F(Profile, StridedLoadsOccupyTheBanksThatTheyShare) {
    const auto in = buffer(64 << 20), out = buffer(1 << 20);
    const auto load = [&](int stride) {
        const auto profile = profiled("strided", {8}, {32}, in, out, stride);
        const auto& accesses = profile.sms.front().front().accesses;
        const auto found = std::ranges::find_if(accesses, [](const WarpAccess& access) {
            return access.lines > 0 && access.kind == AccessKind::load && access.stage != Stage::constants;
        });
        EXPECT_EQ(found->stage, Stage::storage);
        return found->stage_cycles;
    };
    EXPECT_EQ(load(1), 1);
    EXPECT_EQ(load(8), 8);
    EXPECT_EQ(load(32), 32) << "all words lie in one bank";
    EXPECT_LT(load(33), 9) << "a quarter of a cycle for each of 32 lines";
}

TEST_F(Profile, ConstantsAndStoresOccupyTheirStages) {
    const auto in = buffer(64 << 20), out = buffer(1 << 20);
    const auto profile = profiled("strided", {8}, {32}, in, out, 1);
    const auto& block = profile.sms.front().front();
    EXPECT_THAT(block.accesses, Contains(testing::AllOf(Field(&WarpAccess::stage, Stage::constants),
                                                        Field(&WarpAccess::stage_cycles, testing::FloatNear(2, 0.1)),
                                                        Field(&WarpAccess::spread, 0))));
    EXPECT_THAT(block.accesses, Contains(testing::AllOf(Field(&WarpAccess::kind, AccessKind::store),
                                                        Field(&WarpAccess::stage_cycles, 4))))
        << "a cycle for each sector of a whole line";
    EXPECT_THAT(block.lines, Each(Field(&TouchedLine::partial, false)));
}

TEST_F(Profile, MemoryStaysAsItWas) {
    const auto count = buffer(4);
    hold(std::vector<int>{5});
    const auto out = buffer(1 << 20);
    const auto profile = profiled("chain", {200}, {32}, count, out);
    EXPECT_THAT(profile.sampled, SizeIs(200)) << "blocks read what others write, so that all are executed together";
    // All blocks are on the GPU at once, and read the number of turns before any has written it.
    const double first = profile.sampled.front().instructions;
    EXPECT_THAT(profile.sampled, Each(Field(&BlockCounts::instructions, first)));
    int after = 0;
    std::memcpy(&after, prepared_->bytes_of(prepared_->buffers()[0]), sizeof after);
    EXPECT_EQ(after, 5);
}

TEST_F(Profile, OneLongBlockDecidesWhenTheLaunchEnds) {
    const auto out = buffer(4 << 20);
    const auto of = [&](int turns) { return predicted("one_long", {2000}, {32}, out, 1234, turns); };
    const auto short_one = of(1), long_one = of(50'000), longer = of(100'000);
    EXPECT_THAT(short_one.warnings, Not(Contains(HasSubstr("a few blocks decide"))));
    EXPECT_THAT(long_one.warnings, Contains(HasSubstr("a few blocks decide how long the launch takes: block 1234")));
    EXPECT_EQ(long_one.sampled_blocks, 2000U) << "a launch of so few instructions is executed whole";
    EXPECT_EQ(long_one.limiter, "latency");
    EXPECT_EQ(long_one.needed_warps, long_one.resident_warps) << "more warps would not help";
    // Each turn waits for the result of the one before: 4 cycles of the multiplication, and those of the loop.
    EXPECT_GT((longer.cycles - long_one.cycles) / 50'000, 4);
    EXPECT_LT((longer.cycles - long_one.cycles) / 50'000, 40);
    EXPECT_GT(long_one.cycles, 10 * short_one.cycles);
}

/// The code in which blocks whose number is a multiple of four leave `loop` at its beginning.
std::string with_empty_blocks(std::string code) {
    const auto bytes = std::as_writable_bytes(std::span(code));
    const auto code_of = [&](const char* kernel) {
        const auto text = sass::Cubin(std::as_bytes(std::span(code))).text(kernel);
        return bytes.subspan(text.offset, text.bytes.size());
    };
    const auto word_at = [](std::span<std::byte> text, std::size_t at) {
        sass::Word word;
        std::memcpy(&word, text.data() + at, sizeof word);
        return word;
    };
    const auto loop = code_of("loop");
    // LOP3.LUT P0, RZ, R7, 0x18, RZ, 0xc0, !PT becomes one of the block's number, in R8, and 0x3.
    auto remainder = sass::decode(word_at(code_of("diverge"), 0x70), 90, 0x70);
    for (auto& operand : std::span(remainder.operand_store).first(remainder.operand_count)) {
        if (operand.kind == sass::OperandKind::reg && operand.reg == 7) operand.reg = 8;
        if (operand.kind == sass::OperandKind::immediate && operand.value == 0x18) operand.value = 3;
    }
    remainder.control.wait = 1;
    remainder.control.stall = 13;
    auto exit = sass::decode(word_at(loop, 0x190), 90, 0x190);
    exit.guard = {.predicate = 0, .invert = true};
    for (const auto& [at, instruction] : {std::pair{0x60, remainder}, {0x80, exit}}) {
        const sass::Word word = sass::encode(instruction);
        std::memcpy(loop.data() + at, &word, sizeof word);
    }
    return code;
}

TEST_F(Profile, BlocksThatEndAtOnceLeaveTheirPlacesToOthers) {
    const auto in = buffer(8 << 20), out = buffer(8 << 20);
    constexpr int kTurns = 200;
    const auto full = predicted("loop", {264}, {1024}, in, out, kTurns);
    const std::string whole = code_;
    code_ = with_empty_blocks(code_);
    const auto profile = profiled("loop", {352}, {1024}, in, out, kTurns);
    const auto sparse = predict::predict_launch(profile, machine_, "h200");
    code_ = whole;
    EXPECT_EQ(profile.empty_blocks, 352U / 4);
    EXPECT_THAT(profile.blocks_of_sms, Each(2)) << "264 blocks of work fill 132 SMs";
    for (const auto& sm : profile.sms)
        EXPECT_THAT(sm, Each(Field(&BlockTrace::block, testing::Truly([](auto block) { return block % 4 != 0; }))));
    EXPECT_NEAR(sparse.cycles, full.cycles, 0.03 * full.cycles) << "352 blocks would take a second wave";
    EXPECT_NEAR(sparse.waves, 1, 1e-9);
    const auto none = profiled("loop", {352}, {1024}, in, out, kTurns);
    EXPECT_EQ(none.empty_blocks, 0U);
    EXPECT_THAT(none.blocks_of_sms, IsEmpty());
    code_ = with_empty_blocks(code_);
    EXPECT_EQ(profiled("loop", {352}, {1024}, in, out, 4).empty_blocks, 0U)
        << "short blocks would wait for the places of empty ones";
    code_ = whole;
}

TEST_F(Profile, BlocksWhoseLengthDependsOnOthersAreExecutedTogether) {
    constexpr unsigned kElements = 16 * 1024;  // of a list in random order
    const auto next = buffer(kElements * 4);
    std::vector<unsigned> list(kElements);
    std::vector<unsigned> order(kElements);
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    for (unsigned i = 0; i < kElements; ++i) list[order[i]] = order[(i + 1) % kElements];
    hold(list);
    const auto profile = profiled("shorten", {kElements / 256}, {256}, next, 0U);
    EXPECT_THAT(profile.sampled, SizeIs(kElements / 256));
    EXPECT_THAT(profile.assumptions, Contains(HasSubstr("all blocks were executed together")));
    EXPECT_THAT(profile.warnings, Contains(HasSubstr("blocks read what others write meanwhile")));
    double instructions = 0;
    for (const BlockCounts& block : profile.sampled) instructions += block.instructions;
    const Sampling few{.most_instructions = instructions / 2};
    EXPECT_THAT(message_of([&] { (void)profiled_within(few, "shorten", {kElements / 256}, {256}, next, 0U); }),
                testing::AllOf(HasSubstr("kernel 'shorten'"), HasSubstr("gputomo simulate")));
}

TEST_F(Profile, FewBlocksAreExecutedOfALargeGrid) {
    const auto in = buffer(1 << 20), out = buffer(256 << 20);
    const auto profile = profiled("loop", {1'000'000}, {32}, in, out, 4);
    // Twelve waves of three SMs, the first blocks of the SMs of their GPCs, and 512 others.
    EXPECT_LT(profile.sampled.size(), 3 * 12 * 32 + 3 * 17 + 512 + 16U);
    EXPECT_TRUE(profile.stable);
    EXPECT_THAT(profile.sms, SizeIs(3));
    EXPECT_EQ(profile.resident_blocks, 32U);
    EXPECT_EQ(profile.residency_limit, "blocks of an SM");
}

TEST_F(Profile, MoreThanFourWavesAreRecordedOfShortBlocksAlone) {
    const auto in = buffer(1 << 20), out = buffer(64 << 20);
    for (const auto& [iterations, waves] : {std::pair(4, 12), std::pair(400, 4)}) {
        const auto profile = profiled("loop", {100'000}, {32}, in, out, iterations);
        ASSERT_THAT(profile.sms, SizeIs(3));
        for (const auto& blocks : profile.sms) EXPECT_EQ(blocks.size(), waves * 32U) << iterations;
    }
}

TEST_F(Profile, QuickOneExecutesFewWavesOfOneSmAndSaysSo) {
    const auto in = buffer(1 << 20), out = buffer(256 << 20);
    const auto quick = profiled_within(Sampling{}.quick(), "loop", {1'000'000}, {32}, in, out, 4);
    ASSERT_THAT(quick.sms, SizeIs(1));
    EXPECT_GT(quick.sms.front().size(), 2 * 32U);
    EXPECT_LE(quick.sms.front().size(), 8 * 32U);
    EXPECT_LT(quick.sampled.size(), 8 * 32 + 17 + 24 + 16U) << "with the first blocks of the SMs of its GPC";
    EXPECT_THAT(quick.assumptions, Contains(HasSubstr("the prediction is a quick one")));
    const auto whole = profiled("loop", {1'000'000}, {32}, in, out, 4);
    EXPECT_EQ(quick.sampled.front().instructions, whole.sampled.front().instructions);
    EXPECT_THAT(whole.assumptions, Not(Contains(HasSubstr("quick"))));
}

TEST_F(Profile, QuickOneRecordsOneWaveOfLongBlocks) {
    const auto in = buffer(1 << 20), out = buffer(64 << 20);
    const auto quick = profiled_within(Sampling{}.quick(), "loop", {100'000}, {32}, in, out, 3000);
    ASSERT_THAT(quick.sms, SizeIs(1));
    EXPECT_THAT(quick.sms.front(), SizeIs(32));
}

TEST_F(Profile, RegistersAndSharedMemoryMayLimitAlike) {
    const auto out = buffer(1 << 20);
    const auto launched = [&] { return profiled("conflicts", {1024}, {128}, out, 1); };
    const auto whole = launched();
    const auto described = machine_;
    const std::int64_t unit = machine_.topology.register_allocation_unit.value_or(1);
    const std::int64_t of_thread = (whole.registers + unit - 1) / unit * unit;
    machine_.shared.capacity.set(8 * static_cast<std::int64_t>(whole.shared_of_block));
    machine_.topology.registers_per_sm.set(8 * 128 * of_thread);
    const auto profile = launched();
    machine_ = described;
    EXPECT_EQ(profile.resident_blocks, 8U);
    EXPECT_EQ(profile.residency_limit, "registers and shared memory");
}

TEST_F(Profile, SharedReadsCountOnceInTheFootprint) {
    constexpr int kX = 256, kY = 128, kBytes = 32 * 4;
    const auto all = kX * kY * kBytes;
    // One buffer far larger than what is touched, so that no buffer's size limits the estimate.
    const auto memory = buffer(1 << 26);
    const auto footprint =
        profiled("shared_reads", {kX, kY}, {32}, memory, memory + (1 << 24), memory + (2 << 24), memory + (3 << 24))
            .footprint;
    EXPECT_FALSE(footprint.exact);
    EXPECT_NEAR(footprint.read, all + kX * kBytes + kY * kBytes, 1);
    EXPECT_NEAR(footprint.written, all, 1);
}

TEST_F(Profile, LongBlockIsRefusedWithTheLimit) {
    const auto out = buffer(1 << 20);
    EXPECT_THAT(message_of([&] { (void)profiled_within({.most_events = 10'000}, "diverge", {1}, {32}, out, 100'000); }),
                HasSubstr("kernel 'diverge': block 0 executes more than 10000 warp instructions, or never ends"));
    EXPECT_THROW(
        (void)profiled_within({.time_limit = std::chrono::milliseconds(1)}, "diverge", {1}, {32}, out, 1'000'000'000),
        TimeLimitError);
}

TEST_F(Profile, BlockThatNothingEndsIsRefused) {
    const auto flag = buffer(4);
    EXPECT_THAT(message_of([&] { (void)profiled("endless", {1}, {32}, flag); }),
                testing::AllOf(HasSubstr("kernel 'endless': its only block never ends"), HasSubstr("LDG")));
    EXPECT_THAT(message_of([&] { (void)profiled("endless", {400}, {32}, flag); }),
                testing::AllOf(HasSubstr("kernel 'endless'"), HasSubstr("wait for each other forever")));
}

TEST_F(Profile, BlockThatFitsNoSmIsRefused) {
    const auto out = buffer(1 << 20);
    EXPECT_THAT(message_of([&] { (void)profiled("conflicts", {1}, {2048}, out, 1); }),
                HasSubstr("no block fits an SM of NVIDIA H200: 2048 threads per block asked; the limit is 1024"));
}

TEST_F(Profile, TimeGrowsWithTheTripCount) {
    const auto in = buffer(1 << 20), out = buffer(1 << 20);
    const auto few = predicted("loop", {132}, {32}, in, out, 10), many = predicted("loop", {132}, {32}, in, out, 1010);
    EXPECT_EQ(few.limiter, "latency");
    EXPECT_NEAR((many.cycles - few.cycles) / 1000, 638, 60) << "each turn waits for a line from DRAM";
    EXPECT_THAT(few.warnings, Contains(HasSubstr("too small to fill the GPU")));
    EXPECT_GT(few.needed_warps, few.resident_warps);
}

TEST_F(Profile, StreamIsLimitedByDramAtItsBandwidth) {
    constexpr std::int64_t kBytes = 256 << 20;
    const auto in = buffer(kBytes), out = buffer(kBytes);
    const auto prediction = predicted("copy", {kBytes / 16 / 1024}, {1024}, in, out);
    EXPECT_EQ(prediction.limiter, "DRAM");
    EXPECT_NEAR(prediction.bytes.dram_read, kBytes, 0.01 * kBytes);
    const double rate = 2 * kBytes / prediction.microseconds / 1000;  // GB/s
    EXPECT_GT(rate, 0.75 * 3983);
    EXPECT_LT(rate, 1.1 * 3983) << "memory.copy_bandwidth";
    EXPECT_THAT(prediction.warnings, IsEmpty());
}

TEST_F(Profile, GridOfFewBlocksSaysHowManySmsHaveNoWork) {
    const auto in = buffer(1 << 20), out = buffer(1 << 20);
    EXPECT_THAT(predicted("loop", {12}, {32}, in, out, 10).warnings, Contains(HasSubstr("leave 120 of 132 SMs")));
}

}  // namespace
}  // namespace gputomo::launch
