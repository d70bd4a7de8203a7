// Machine code with timing: small kernels whose cycles follow from stall counts, barriers and the description.
#include "sass/form.hpp"
#include "timed_code.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::sim {
namespace {

using namespace timed_code;
using testing::AllOf;
using testing::HasSubstr;

/// R16 = R16 * R16 + R16, several times.
std::vector<Word> chain(int length, const Control& control) {
    return std::vector<Word>(static_cast<std::size_t>(length), with(kMultiply, {16, 16, 16, 16}, control));
}

TEST(SassTiming, StallCountsSeparateTheInstructionsOfAWarp) {
    EXPECT_EQ(Kernel(chain(32, {.stall = 4})).cycles(), kFirst + 32 * 4);
    EXPECT_EQ(Kernel(chain(32, {.stall = 5})).cycles(), kFirst + 32 * 5);
    EXPECT_EQ(Kernel(chain(7, {.stall = 13})).cycles(), kFirst + 7 * 13);
}

TEST(SassTiming, AnInstructionThatYieldsLeavesTheNextCycleToOtherWarps) {
    const auto adds = [](bool stay) {
        return Kernel(std::vector<Word>(20, with(kAdd, {18, 255, 7, 255}, {.stall = 1, .stay = stay})));
    };
    // The unit of integers takes a warp in two cycles.
    EXPECT_NEAR(adds(true).cycles(), adds(false).cycles(), 2);
    const auto alternating = [](bool stay) {
        std::vector<Word> body;
        for (int i = 0; i < 20; ++i) {
            body.push_back(with(kAdd, {18, 255, 7, 255}, {.stall = 1, .stay = stay}));
            body.push_back(with(kMultiply, {17, 255, 8, 255}, {.stall = 1, .stay = stay}));
        }
        return Kernel(body).cycles();
    };
    EXPECT_EQ(alternating(true), kFirst + 40);
    EXPECT_EQ(alternating(false), kFirst + 2 * 40);
}

TEST(SassTiming, AWaitForABarrierLastsUntilTheResultIsThere) {
    const auto machine = h200();
    const auto latency = static_cast<std::uint32_t>(*machine.operations.at("ex2.approx.ftz.f32").latency);
    const auto chained = [](std::uint8_t wait) {
        std::vector<Word> body;
        for (int i = 0; i < 10; ++i)
            body.push_back(with(kExponential, {6, 6}, {.stall = 2, .write_barrier = 2, .wait = wait}));
        return Kernel(body);
    };
    const std::uint32_t waiting = chained(1 << 2).cycles();
    EXPECT_EQ(waiting, kFirst + 9 * latency + 2);
    // Without the wait the instructions follow each other as fast as the unit takes them.
    EXPECT_LT(chained(0).cycles(), waiting / 2);
    EXPECT_EQ(chained(1 << 3).cycles(), chained(0).cycles()) << "another barrier is not waited for";
}

TEST(SassTiming, ALoadIsWaitedForByItsBarrier) {
    const auto load = [](std::uint8_t wait) {
        return Kernel({with(kLoad, {}, {.stall = 2, .write_barrier = 3}),
                       with(kAdd, {18, 255, 7, 255}, {.stall = 4, .wait = wait})});
    };
    const auto machine = h200();
    const auto latency = static_cast<std::uint32_t>(*machine.paths.at("global").memory_latency);
    EXPECT_GE(load(1 << 3).cycles(), latency);
    EXPECT_LT(load(0).cycles(), 20U);
}

TEST(SassTiming, AReadBarrierIsReleasedLongBeforeTheData) {
    const auto load = [](std::uint8_t wait) {
        return Kernel({with(kLoad, {}, {.stall = 2, .write_barrier = 3, .read_barrier = 4}),
                       with(kAdd, {18, 255, 7, 255}, {.stall = 4, .wait = wait})});
    };
    EXPECT_LT(load(1 << 4).cycles(), 30U);
    EXPECT_GT(load(1 << 3).cycles(), 300U) << "which the data take";
}

TEST(SassTiming, AReadBarrierIsReleasedWhenTheUnitHasTakenTheWarp) {
    const auto machine = h200();
    const auto lanes = *machine.operations.at("ex2.approx.ftz.f32").throughput / *machine.issue.schedulers_per_sm;
    const auto interval = static_cast<std::uint32_t>(std::lround(32 / lanes));
    ASSERT_GT(interval, 4U);
    const auto exponential = [](std::uint8_t wait) {
        return Kernel({with(kExponential, {6, 6}, {.stall = 2, .read_barrier = 4}),
                       with(kAdd, {18, 255, 7, 255}, {.stall = 4, .wait = wait})})
            .cycles();
    };
    EXPECT_EQ(exponential(0), kFirst + 2 + 4);
    EXPECT_EQ(exponential(1 << 4), kFirst + interval + 4);
    EXPECT_EQ(exponential(1 << 3), exponential(0)) << "another barrier is not waited for";
}

TEST(SassTiming, UnitsAreBusyAsLongAsTheirLanesNeed) {
    // Eight warps, two of each scheduler: the unit of integers takes one of their additions in two cycles.
    const auto cycles = [](std::uint32_t threads) {
        return Kernel(std::vector<Word>(64, with(kAdd, {18, 255, 7, 255}, {.stall = 4})))
            .run(h200(), threads)
            .results[0];
    };
    EXPECT_EQ(cycles(32), kFirst + 64 * 4);
    EXPECT_NEAR(cycles(256), kFirst + 64 * 4, 8);
    EXPECT_NEAR(cycles(512), kFirst + 64 * 8, 16);
}

TEST(SassTiming, RegistersOfOneBankTakeFurtherCyclesUnlessTheyAreReused) {
    const auto cycles = [](std::initializer_list<int> registers, std::uint8_t reuse) {
        Word word = with(kMultiply, registers, {.stall = 1, .stay = true});
        auto instruction = sass::decode(word, 90, 0);
        instruction.control.reuse = reuse;
        instruction.operand_store[1].reuse = (reuse & 1) != 0;
        return Kernel(std::vector<Word>(64, sass::encode(instruction))).cycles();
    };
    // The unit takes a warp in two cycles.
    EXPECT_NEAR(cycles({17, 2, 5, 255}, 0), kFirst + 64 * 2, 4);
    EXPECT_NEAR(cycles({17, 2, 4, 6}, 0), kFirst + 64 * 3, 4);
    EXPECT_NEAR(cycles({17, 2, 4, 6}, 1), kFirst + 64 * 2, 4);
}

TEST(SassTiming, WarpsMeetAtABarrierOfTheBlock) {
    std::vector<Word> body = chain(100, {.stall = 15});
    body.push_back(with(kBlockBarrier, {}, {.stall = 5}));
    auto machine = h200();
    machine.issue.barrier_defers.set(false);  // the clock is read behind the barrier
    const auto both = Kernel(body).run(machine, 64);
    for (const auto cycles : both.results) EXPECT_GE(cycles, kFirst + 1500U);
    const auto latency = static_cast<std::uint32_t>(*h200().issue.barrier_latency);
    EXPECT_NEAR(both.results[63], kFirst + 1500 + latency, 12);
}

TEST(SassTiming, YieldTakesWhatTheDescriptionSays) {
    constexpr Word kYield{0x0000000000007946, 0x000fea0003800000};
    const Kernel kernel({with(kYield, {}, {.stall = 5})});
    auto machine = h200();
    machine.issue.yield_latency = {};
    EXPECT_EQ(kernel.run(machine).results[0], kFirst + 5);
    machine.issue.yield_latency.set(51);
    EXPECT_EQ(kernel.run(machine).results[0], kFirst + 51);
    machine.issue.yield_latency.set(3);
    EXPECT_EQ(kernel.run(machine).results[0], kFirst + 5) << "its stall count is longer";
}

TEST(SassTiming, ATakenBranchCostsWhatTheDescriptionSays) {
    std::vector<Word> body{with(kBranch, {}, {.stall = 5})};
    for (int i = 0; i < 4; ++i) body.push_back(with(kAdd, {18, 255, 7, 255}, kLongest));  // skipped
    auto branch = sass::decode(body[0], 90, 0);
    for (int i = 0; i < branch.operand_count; ++i)
        if (branch.operand_store[static_cast<std::size_t>(i)].kind == sass::OperandKind::target)
            branch.operand_store[static_cast<std::size_t>(i)].value = 4 * sass::kInstructionBytes;
    body[0] = sass::encode(branch);
    const auto outcome = Kernel(body).run(h200());
    const auto taken = static_cast<std::uint32_t>(*h200().issue.branch_latency_taken);
    EXPECT_EQ(outcome.results[0], kFirst + taken);
    EXPECT_EQ(outcome.counters.warp_instructions, 6U + 1 + 4) << "skipped instructions are not executed";
    EXPECT_EQ(outcome.counters.divergent_branches, 0U);
}

TEST(SassTiming, CountsInstructionsAndNamesAssumedCosts) {
    const auto outcome = Kernel(chain(3, {.stall = 4})).run(h200(), 96, 2);
    EXPECT_EQ(outcome.counters.warp_instructions, 2U * 3 * (6 + 3 + 4));
    EXPECT_EQ(outcome.counters.thread_instructions, 32 * outcome.counters.warp_instructions);
    EXPECT_EQ(outcome.code.language, ExecutedCode::Language::sass);
    const auto of = [&](const std::string& name) {
        for (const auto& row : outcome.code.assumed)
            if (row.operation == name) return row.executed;
        return std::uint64_t{0};
    };
    EXPECT_EQ(of("S2R"), 6U);
    EXPECT_EQ(of("IMAD.WIDE"), 6U);
    EXPECT_EQ(of("IMAD"), 0U) << "a scan timed it";
}

/// The scan times halves of one shape, with sums in single precision.
TEST(SassTiming, OtherMatrixProductsAreNamedAsAssumed) {
    constexpr Word kProduct{0x000000021408723c, 0x000fe60000001808};  // HMMA.16816.F32 R8, R20, R2, R8
    constexpr std::uint64_t kLarge = 1 << (75 - 64), kBrainFloat = 1 << (82 - 64);
    const auto assumed = [&](const Word& product) {
        std::string names;
        for (const auto& row : Kernel({with(product, {}, {.stall = 8})}).run(h200()).code.assumed)
            if (row.operation.starts_with("HMMA")) names += row.operation + " " + row.assumption;
        return names;
    };
    EXPECT_EQ(assumed(kProduct), "");
    EXPECT_EQ(assumed({kProduct.low, kProduct.high | kBrainFloat}), "HMMA.16816.F32.BF16 as HMMA.16816.F32");
    EXPECT_EQ(assumed({kProduct.low, kProduct.high & ~kLarge}), "HMMA.1688.F32 as HMMA.16816.F32");
}

TEST(SassTiming, CodeComesThroughTheInstructionCaches) {
    auto machine = h200();
    const auto body = chain(512, {.stall = 4});
    const auto without = Kernel(body).run(machine).results[0];
    auto& cache = machine.caches["code"];
    cache.scope.set("sm");
    cache.capacity.set(4096);
    cache.line.set(128);
    cache.ways.set(4);
    cache.sets.set(8);
    cache.policy.set("lru");
    cache.latency.set(10);
    machine.paths["instruction"].caches.set({"code"});
    machine.paths["instruction"].memory_latency.set(300);
    const auto lines = 512U * 16 / 128;
    // Each line of 128 bytes holds eight instructions and comes from memory once.
    EXPECT_GE(Kernel(body).run(machine).results[0], without + (lines - 1) * 200);
}

std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(SassErrors, AnIllegalAddressNamesKernelBlockThreadAndInstruction) {
    const Kernel kernel({with(kLoad, {}, {.stall = 2, .write_barrier = 3})});
    auto bytes = kernel.cubin();
    const auto gpu = make_device(h200(), {});
    const auto module = gpu->load({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    device::Buffer out(*gpu, Bytes(128));
    device::Launch launch{.grid = {1}, .block = {32}};
    launch.arguments.add(out.address()).add(std::uint64_t{16});
    EXPECT_THAT(error_of([&] { module->kernel("timed").launch(launch); }),
                AllOf(HasSubstr("launch of timed"), HasSubstr("illegal address 0x10"), HasSubstr("block (0, 0, 0)"),
                      HasSubstr("thread 0"), HasSubstr("LDG.E"), HasSubstr("at 0x60")));
}

TEST(SassErrors, ArgumentsHaveToFit) {
    const auto bytes = Kernel({}).cubin();
    const auto gpu = make_device(h200(), {});
    const auto module = gpu->load({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    device::Launch launch{.grid = {1}, .block = {32}};
    launch.arguments.add(std::uint64_t{16});
    EXPECT_THAT(error_of([&] { module->kernel("timed").launch(launch); }),
                AllOf(HasSubstr("1 arguments given"), HasSubstr("expected 2")));
    launch.arguments.add(std::uint32_t{16});
    EXPECT_THAT(error_of([&] { module->kernel("timed").launch(launch); }),
                AllOf(HasSubstr("argument 1 has 4 bytes"), HasSubstr("expected 8")));
    EXPECT_THAT(error_of([&] { module->kernel("other"); }), HasSubstr("no kernel 'other'"));
}

TEST(SassErrors, CodeForAnotherGpuIsRefused) {
    EXPECT_THAT(error_of([&] {
                    (void)make_device(h200(), {})
                        ->load(
                            "\x7f"
                            "ELF and nothing else");
                }),
                HasSubstr("ELF"));
}

}  // namespace
}  // namespace gputomo::sim
