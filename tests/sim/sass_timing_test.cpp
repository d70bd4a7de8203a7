// Machine code with timing: small kernels whose cycles follow from stall counts, barriers and the description.
#include "machine/json.hpp"
#include "sass/code.hpp"
#include "sass/cubin_writer.hpp"
#include "sass/form.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::sim {
namespace {

using sass::Control;
using sass::Word;
using testing::AllOf;
using testing::HasSubstr;

// Instructions as ptxas encodes them; their control fields are replaced.
constexpr Word kDescriptor{0x0000820000067ab9, 0x000fce0000000a00};    // ULDC.64 UR6, c[0x0][0x208]
constexpr Word kOutput{0x00008400ff047b82, 0x000e620000000a00};        // LDC.64 R4, c[0x0][0x210]
constexpr Word kInput{0x00008600ff027b82, 0x000e220000000a00};         // LDC.64 R2, c[0x0][0x218]
constexpr Word kThread{0x0000000000097919, 0x000e2e0000002100};        // S2R R9, SR_TID.X
constexpr Word kOwnResult{0x0000000409047825, 0x002fc600078e0004};     // IMAD.WIDE.U32 R4, R9, 0x4, R4
constexpr Word kClock{0x0000000000037805, 0x000fe20000005000};         // CS2R.32 R3, SR_CLOCKLO
constexpr Word kMultiply{0x0000001000107224, 0x000fc800078e0203};      // IMAD R16, R0, R16, R3
constexpr Word kAdd{0x0000000704127210, 0x000fe40007ffe80a};           // IADD3 R18, R4, R7, -R10
constexpr Word kExponential{0x0000000600067308, 0x000e300000000800};   // MUFU.EX2 R6, R6
constexpr Word kLoad{0x0000000602027981, 0x000ea2000c1e1900};          // LDG.E R2, desc[UR6][R2.64]
constexpr Word kStore{0x0000000304007986, 0x000fe2000c101906};         // STG.E desc[UR6][R4.64], R3
constexpr Word kBlockBarrier{0x0000000000007b1d, 0x000fec0000010000};  // BAR.SYNC.DEFER_BLOCKING 0x0
constexpr Word kBranch{0x0000000000388947, 0x000fea0003800000};        // @!P0 BRA
constexpr Word kExit{0x000000000000794d, 0x000fea0003800000};

constexpr Control kLongest{.stall = 15};

/// The instruction with other registers, in the order of its operands, and other control fields.
Word with(const Word& word, std::initializer_list<int> registers, const Control& control) {
    auto instruction = sass::decode(word, 90, 0);
    auto next = registers.begin();
    for (int i = 0; i < instruction.operand_count && next != registers.end(); ++i)
        if (auto& operand = instruction.operand_store[static_cast<std::size_t>(i)];
            operand.kind == sass::OperandKind::reg) {
            operand.reg = static_cast<std::uint8_t>(*next++);
            operand.reuse = false;
        }
    instruction.control = control;
    instruction.control.reuse = 0;
    return sass::encode(instruction);
}

machine::Machine h200() { return completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine; }

struct Outcome {
    std::vector<std::uint32_t> results;  ///< by thread: what the kernel stored
    Counters counters;
    ExecutedCode code;
};

/// Runs instructions between two clock reads in R11 and R10. Each thread stores the cycles between them.
class Kernel {
public:
    explicit Kernel(std::vector<Word> body) : body_(std::move(body)) {}

    [[nodiscard]] std::vector<std::byte> cubin() const {
        std::vector<Word> code{with(kDescriptor, {}, kLongest),
                               with(kOutput, {}, {.stall = 2, .write_barrier = 0}),
                               with(kInput, {}, {.stall = 2, .write_barrier = 0}),
                               with(kThread, {}, {.stall = 2, .write_barrier = 1}),
                               with(kOwnResult, {}, {.stall = 15, .wait = 3}),
                               with(kClock, {11}, {.stall = 2})};
        code.insert(code.end(), body_.begin(), body_.end());
        code.push_back(with(kClock, {10}, kLongest));
        code.push_back(with(kAdd, {3, 10, 255, 11}, kLongest));
        code.push_back(with(kStore, {}, kLongest));
        code.push_back(with(kExit, {}, {.stall = 5}));
        return sass::write_cubin(
            std::vector<sass::CubinKernel>{
                {.name = "timed", .code = code, .registers = 40, .parameter_bytes = {8, 8}, .barriers = 1}},
            90);
    }

    [[nodiscard]] Outcome run(const machine::Machine& machine, std::uint32_t threads = 32,
                              std::uint32_t blocks = 1) const {
        const auto gpu = make_device(machine, {});
        const auto bytes = cubin();
        const auto module = gpu->load({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        device::Buffer out(*gpu, Bytes(4 * threads)), in(*gpu, Bytes(4 * threads));
        device::Launch launch{.grid = {blocks}, .block = {threads}, .time_limit = std::chrono::seconds(20)};
        launch.arguments.add(out.address()).add(in.address());
        module->kernel("timed").launch(launch);
        return {out.read<std::uint32_t>(threads), gpu->counters(), gpu->executed_code()};
    }
    [[nodiscard]] std::uint32_t cycles() const { return run(h200()).results[0]; }

private:
    std::vector<Word> body_;
};

/// R16 = R16 * R16 + R16, several times.
std::vector<Word> chain(int length, const Control& control) {
    return std::vector<Word>(static_cast<std::size_t>(length), with(kMultiply, {16, 16, 16, 16}, control));
}

/// Cycles from the first clock read to the instruction behind it.
constexpr std::uint32_t kFirst = 2;

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

TEST(SassTiming, RegistersOfOneBankTakeFurtherSlotsUnlessTheyAreReused) {
    const auto cycles = [](std::initializer_list<int> registers, std::uint8_t reuse) {
        Word word = with(kMultiply, registers, {.stall = 1, .stay = true});
        auto instruction = sass::decode(word, 90, 0);
        instruction.control.reuse = reuse;
        instruction.operand_store[1].reuse = (reuse & 1) != 0;
        return Kernel(std::vector<Word>(64, sass::encode(instruction))).run(h200(), 1024).results[0];
    };
    const auto conflicting = cycles({17, 2, 4, 6}, 0), spread = cycles({17, 2, 5, 255}, 0);
    EXPECT_GT(conflicting, spread + spread / 4);
    EXPECT_LT(cycles({17, 2, 4, 255}, 1), cycles({17, 2, 4, 255}, 0) + 1);
}

TEST(SassTiming, WarpsMeetAtABarrierOfTheBlock) {
    std::vector<Word> body = chain(100, {.stall = 15});
    body.push_back(with(kBlockBarrier, {}, {.stall = 5}));
    const auto both = Kernel(body).run(h200(), 64);
    for (const auto cycles : both.results) EXPECT_GE(cycles, kFirst + 1500U);
    const auto latency = static_cast<std::uint32_t>(*h200().issue.barrier_latency);
    EXPECT_NEAR(both.results[63], kFirst + 1500 + latency, 12);
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
