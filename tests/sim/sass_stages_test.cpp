// Stages that machine code passes in an SM. Each test fails where its stage does nothing.
#include "timed_code.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

using namespace timed_code;

// Instructions as ptxas encodes them; operands and control fields are replaced.
constexpr Word kMultiplyAdd{0x0000000a0a0b7223, 0x000fe40000000009};   // FFMA R11, R10, R10, R9
constexpr Word kSharedLoad{0x000000001d107984, 0x000e640000000800};    // LDS R16, [R29]
constexpr Word kSharedStore{0x000000151a007388, 0x0081e60000000800};   // STS [R26], R21
constexpr Word kCopy{0x0010000040087fae, 0x0003e2000b921a4a};          // LDGSTS.E.64 [R8+0x100], desc[UR10][R64.64]
constexpr Word kCopiesIssued{0x00000000000079af, 0x000e240000000000};  // LDGDEPBAR
constexpr Word kBarrierWait{0x000080c00000791a, 0x000fc80000000000};   // DEPBAR.LE SB0, 0x3
constexpr Word kFence{0x0000000000007992, 0x000fec0000002000};         // MEMBAR.SC.GPU
constexpr Word kSleep{0x000000ff0000735d, 0x000fea0003800000};         // NANOSLEEP RZ
constexpr Word kWarpBarrier{0x0000000000007948, 0x000fea0003800000};   // WARPSYNC.ALL
constexpr Word kAtomic{0x000000020d0d738c, 0x0002a40000000000};        // ATOMS.ADD R13, [R13], R2

/// R12 = thread times `bytes`, as an offset in shared memory behind what belongs to the system.
Word offset_of_thread(std::int64_t bytes) {
    return changed(with(kOwnResult, {12, 9, 255}, kLongest), [&](sass::Instruction& i) {
        for (int at = 0; at < i.operand_count; ++at)
            if (i.operand_store[static_cast<std::size_t>(at)].kind == sass::OperandKind::immediate)
                i.operand_store[static_cast<std::size_t>(at)].value = bytes;
    });
}
/// R2, R3 = the input plus thread times `bytes`.
Word input_of_thread(std::int64_t bytes) {
    return changed(offset_of_thread(bytes), [](sass::Instruction& i) {
        i.operand_store[0].reg = 2;
        i.operand_store[static_cast<std::size_t>(i.operand_count - 1)].reg = 2;
    });
}

/// A load or store of shared memory at R12.
Word shared_access(const Word& word, const Control& control) {
    constexpr std::int64_t kBehindSystem = 1024;
    return changed(word, [&](sass::Instruction& i) {
        i.control = control;
        for (int at = 0; at < i.operand_count; ++at) {
            auto& operand = i.operand_store[static_cast<std::size_t>(at)];
            if (operand.kind == sass::OperandKind::memory)
                operand.reg = 12, operand.value = kBehindSystem;
            else if (operand.kind == sass::OperandKind::reg)
                operand.reg = 20;
        }
    });
}

/// Waits until at most `left` instructions of dependence barrier 0 have not completed.
Word wait_for_barrier(std::int64_t left) {
    return changed(kBarrierWait, [&](sass::Instruction& i) {
        i.control = {.stall = 4};
        for (int at = 0; at < i.operand_count; ++at)
            if (auto& operand = i.operand_store[static_cast<std::size_t>(at)];
                operand.kind == sass::OperandKind::immediate)
                operand.value = left;
    });
}

/// LDGSTS from the input to the beginning of the block's shared memory.
Word copy() {
    return changed(kCopy, [](sass::Instruction& i) {
        i.control = {.stall = 2};
        i.operand_store[0].reg = 255;
        i.operand_store[0].value = 1024;
        i.operand_store[1].reg = 2;
        i.operand_store[1].uniform = 6;
        i.operand_store[1].value = 0;
    });
}

/// Each thread sleeps as many nanoseconds as R12 says.
Word sleep_of_thread() {
    return changed(kSleep, [](sass::Instruction& i) {
        i.control = {.stall = 2};
        for (int at = 0; at < i.operand_count; ++at)
            if (auto& operand = i.operand_store[static_cast<std::size_t>(at)]; operand.kind == sass::OperandKind::reg)
                operand.reg = 12;
    });
}

constexpr int kSharedBytes = 8192;
constexpr std::uint32_t kSoon = 60;  ///< cycles that no access to memory takes

std::uint32_t memory_latency() { return static_cast<std::uint32_t>(*h200().paths.at("global").memory_latency); }

TEST(SassStages, TheSchedulerIssuesOneInstructionOfAllItsWarpsInACycle) {
    // Two warps of a scheduler; the units alone would take both in four cycles a round.
    const auto rounds = [](std::uint32_t threads) {
        std::vector<Word> body;
        for (int i = 0; i < 40; ++i) {
            body.push_back(with(kMultiplyAdd, {17, 255, 8, 255}, {.stall = 1, .stay = true}));
            body.push_back(with(kAdd, {18, 255, 7, 255}, {.stall = 1, .stay = true}));
            body.push_back(with(kMultiplyAdd, {19, 255, 8, 255}, {.stall = 1, .stay = true}));
        }
        return Kernel(body).run(h200(), threads);
    };
    const auto one = rounds(128), two = rounds(256);
    EXPECT_NEAR(one.results[0], kFirst + 40 * 3, 4);
    // The first warp goes on while it can. So only the launch shows that the second one has to wait.
    EXPECT_NEAR(static_cast<double>(two.counters.cycles) - static_cast<double>(one.counters.cycles), 40 * 3, 10);
}

TEST(SassStages, TheCoalescerMakesATransactionForEachLine) {
    const Word waits = with(kAdd, {18, 255, 7, 255}, {.stall = 4, .wait = 1 << 3});
    auto machine = h200();
    // All lines have one latency, and no refresh delays them.
    auto& path = machine.paths.at("global");
    path.memory_latency_line_range = path.memory_latency_range = {};
    path.memory_latency_partition_range = path.memory_far_extra = path.memory_far_request = {};
    machine.memory.refresh_interval = machine.memory.refresh_time = {};
    const auto load = [&](std::int64_t bytes) {
        // The first load leaves the page's translation in the TLBs.
        return Kernel({with(kLoad, {20}, {.stall = 2, .write_barrier = 3}), waits, input_of_thread(bytes),
                       with(kLoad, {20}, {.stall = 2, .write_barrier = 3}), waits})
            .run(machine);
    };
    const auto near = load(4), scattered = load(256);
    EXPECT_EQ(scattered.counters.memory_transactions - near.counters.memory_transactions, 31U);
    EXPECT_GT(scattered.results[0], near.results[0] + 31 * 10) << "transactions of DRAM are apart";
}

TEST(SassStages, SharedBanksServeTheWordsOfABankInTurn) {
    const auto load = [](std::int64_t bytes) {
        return Kernel({offset_of_thread(bytes), shared_access(kSharedLoad, {.stall = 2, .write_barrier = 3}),
                       with(kAdd, {18, 255, 7, 255}, {.stall = 4, .wait = 1 << 3})},
                      kSharedBytes)
            .run(h200());
    };
    const auto shared = h200().shared;
    const auto free = load(4), conflicting = load(128), alike = load(0);
    EXPECT_EQ(conflicting.results[0] - free.results[0], 31 * *shared.conflict_cost);
    EXPECT_GT(conflicting.counters.bank_conflict_cycles, 0U);
    EXPECT_EQ(alike.results[0], free.results[0]) << "one word for all threads";
    EXPECT_EQ(free.results[0], kFirst + 15 + *shared.forward_latency + 4);
}

/// Cycles per load of the SM in which each warp loads eight times from one bank, on an H200:
/// docs/notes/2026-11-26-streams-of-an-h200.md.
TEST(SassStages, WordsOfOneBankReturnToAWarpMoreSlowlyThanToSeveral) {
    const auto cycles_per_load = [](std::int64_t bytes, std::uint32_t warps) {
        std::vector<Word> body{offset_of_thread(bytes)};
        for (int i = 0; i < 8; ++i) body.push_back(shared_access(kSharedLoad, {.stall = 2, .write_barrier = 4}));
        body.push_back(with(kAdd, {18, 255, 7, 255}, {.stall = 4, .wait = 1 << 4}));
        const auto outcome = Kernel(body, 128 * 1024).run(h200(), 32 * warps);
        return static_cast<double>(std::ranges::max(outcome.results)) / (8 * warps);
    };
    EXPECT_NEAR(cycles_per_load(128, 1), 68.5, 7);
    EXPECT_NEAR(cycles_per_load(128, 2), 34.3, 4);
    EXPECT_NEAR(cycles_per_load(128, 4), 32.2, 4);
    EXPECT_NEAR(cycles_per_load(128, 8), 32.1, 4);
    EXPECT_LT(cycles_per_load(4, 1), 9) << "without conflicts, instructions and latency decide";
}

TEST(SassStages, SharedBanksAreBusyForAllWarps) {
    const auto stores = [](std::int64_t bytes, std::uint32_t threads) {
        std::vector<Word> body{offset_of_thread(bytes)};
        for (int i = 0; i < 8; ++i) body.push_back(shared_access(kSharedStore, {.stall = 2, .read_barrier = 3}));
        for (int i = 0; i < 8; ++i) body.push_back(shared_access(kSharedLoad, {.stall = 2, .write_barrier = 4}));
        body.push_back(with(kAdd, {18, 255, 7, 255}, {.stall = 4, .wait = 1 << 3 | 1 << 4}));
        return std::ranges::max(Kernel(body, 128 * 1024).run(h200(), threads).results);
    };
    EXPECT_GT(stores(128, 256), 8 * 15 * 32U) << "eight warps with 16 accesses of 32 ways, nearly at the same time";
    EXPECT_LT(stores(4, 256), 8 * 16 * 8U);
}

TEST(SassStages, SharedAtomicsOnOneWordAreServedOneByOne) {
    const auto add = [](std::int64_t bytes) {
        return Kernel({offset_of_thread(bytes), shared_access(kAtomic, {.stall = 2, .write_barrier = 3}),
                       with(kAdd, {18, 255, 7, 255}, {.stall = 4, .wait = 1 << 3})},
                      kSharedBytes)
            .cycles();
    };
    EXPECT_GE(add(0), add(4) + 31);
}

TEST(SassStages, DependenceBarriersCountTheInstructionsThatAreLeft) {
    // A short instruction and a long one.
    const auto left = [](std::int64_t count) {
        return Kernel({with(kExponential, {20, 20}, {.stall = 2, .write_barrier = 0}),
                       with(kLoad, {}, {.stall = 2, .write_barrier = 0}), wait_for_barrier(count)})
            .cycles();
    };
    const auto latency = static_cast<std::uint32_t>(*h200().operations.at("ex2.approx.ftz.f32").latency);
    EXPECT_GT(left(0), memory_latency());
    EXPECT_NEAR(left(1), kFirst + latency, 1);
    EXPECT_LT(left(2), left(1));
}

TEST(SassStages, AFenceWaitsForTheAccessesOfItsWarp) {
    const auto behind_load = [](bool fence) {
        std::vector<Word> body{with(kLoad, {}, {.stall = 2, .write_barrier = 3})};
        if (fence) body.push_back(with(kFence, {}, {.stall = 2}));
        return Kernel(body).cycles();
    };
    EXPECT_LT(behind_load(false), kSoon);
    EXPECT_GT(behind_load(true), memory_latency());
}

TEST(SassStages, AsynchronousCopiesAreWaitedForByTheirBarrier) {
    const auto copied = [](bool issued, std::int64_t left) {
        std::vector<Word> body{copy()};
        if (issued) body.push_back(with(kCopiesIssued, {}, {.stall = 2, .write_barrier = 0}));
        body.push_back(wait_for_barrier(left));
        return Kernel(body, kSharedBytes).cycles();
    };
    EXPECT_GT(copied(true, 0), memory_latency());
    EXPECT_LT(copied(true, 1), kSoon);
    EXPECT_LT(copied(false, 0), kSoon) << "no barrier stands for the copy";
}

TEST(SassStages, ASleepLastsAsLongAsItsLongestThreadAsks) {
    const double nanoseconds = 31 * 100, cycles = nanoseconds * *h200().clock.sm_mhz / 1000;
    EXPECT_NEAR(Kernel({offset_of_thread(100), sleep_of_thread()}).cycles(), kFirst + 15 + cycles, 2);
}

TEST(SassStages, ConstantLoadsOfAllWarpsTakeTheirPortInTurn) {
    const auto loads = [](std::uint32_t threads) {
        return Kernel(std::vector<Word>(32, with(kOutput, {20}, {.stall = 2, .write_barrier = 3})))
            .run(h200(), threads)
            .results[0];
    };
    const auto each = *h200().paths.at("constant").access_interval;
    EXPECT_LT(loads(32), 32 * 16 * each / 2);
    EXPECT_GE(loads(512), 28 * 16 * each) << "sixteen warps that begin one after the other";
}

TEST(SassStages, ABlockThatDoesNotFitStartsTheReplacementLaterThanAnotherEnds) {
    auto machine = h200();
    machine.topology.sms.set(*machine.topology.sms_per_cpc);
    const auto resident = static_cast<std::uint32_t>(2 * *machine.topology.sms);
    const auto cycles = [&](std::int64_t replacement, std::uint32_t blocks) {
        machine.launch.block_replacement.set(replacement);
        return Kernel(std::vector<Word>(20, with(kMultiply, {16, 16, 16, 16}, kLongest)))
            .run(machine, 1024, blocks)
            .counters.cycles;
    };
    const auto longer = [&](std::uint32_t blocks) { return cycles(1308, blocks) - cycles(308, blocks); };
    // Stores end the launch, and the ports that they pass count in slots.
    EXPECT_NEAR(static_cast<double>(longer(resident + 1) - longer(resident)), 1000, 4)
        << "the further block begins later";
}

TEST(SassStages, ABarrierReleasesAllWarpsWhenTheLastHasArrived) {
    // The second warp of a block sleeps twice as long as the first.
    auto machine = h200();
    machine.issue.barrier_defers.set(false);  // the clock is read behind the barrier
    const auto cycles = [&](std::int64_t latency) {
        machine.issue.barrier_latency.set(latency);
        return Kernel({offset_of_thread(100), sleep_of_thread(), with(kBlockBarrier, {}, {.stall = 5})})
            .run(machine, 64)
            .results;
    };
    const auto soon = cycles(10), late = cycles(110);
    EXPECT_GE(soon[0], 63 * 100 * *machine.clock.sm_mhz / 1000);
    EXPECT_NEAR(soon[0], soon[63], 8);
    EXPECT_EQ(late[0] - soon[0], 100U);
}

TEST(SassStages, ArithmeticBehindABarrierIssuesBeforeItIsComplete) {
    auto machine = h200();
    // The second warp sleeps twice as long as the first. Both read the clock at the end.
    const auto first = [&](bool defers, const std::vector<Word>& behind) {
        machine.issue.barrier_defers.set(defers);
        std::vector<Word> body{offset_of_thread(100), sleep_of_thread(), with(kBlockBarrier, {}, {.stall = 1})};
        body.insert(body.end(), behind.begin(), behind.end());
        return Kernel(body, kSharedBytes).run(machine, 64).results[0];
    };
    const double own = 31 * 100 * *machine.clock.sm_mhz / 1000, last = 63 * 100 * *machine.clock.sm_mhz / 1000;
    const Word add = with(kAdd, {18, 255, 7, 255}, {.stall = 4}), load = shared_access(kSharedLoad, {.stall = 4}),
               special = with(kExponential, {16, 17}, {.stall = 4, .write_barrier = 1}),
               meets = with(kWarpBarrier, {}, {.stall = 4});
    EXPECT_NEAR(first(true, {add}), own, 200);
    EXPECT_NEAR(first(true, std::vector<Word>(200, add)), own + 800, 200);
    EXPECT_GE(first(false, {add}), last);
    for (const Word& waits : {load, special, meets, with(kBlockBarrier, {}, {.stall = 1})}) {
        EXPECT_GE(first(true, {waits}), last);
        EXPECT_GE(first(true, {add, waits, add}), last);
    }
    EXPECT_NEAR(first(true, {add, load}), first(false, {load}), 8) << "what waits goes on when the last has arrived";
}

TEST(SassStages, WarpsOfASchedulerWaitForEachOthersConstants) {
    // The first warp reads the line at 0x40, and the fifth one, of the same scheduler, the line at 0xc0.
    constexpr Word kUniform{0x00000000060572ca, 0x002fe200000e0000};  // R2UR UR5, R6
    constexpr Word kIndexed{0x0000900005057abb, 0x004fe20008000000};  // ULDC.U8 UR5, c[0x0][UR5+0x240]
    const Word reads = changed(kIndexed, [](sass::Instruction& i) {
        i.control = {.stall = 5};
        for (int at = 0; at < i.operand_count; ++at)
            if (auto& operand = i.operand_store[static_cast<std::size_t>(at)];
                operand.kind == sass::OperandKind::constant)
                operand.value = 0x40;
    });
    const Kernel kernel({with(kUniform, {9}, kLongest), reads});
    auto machine = h200();
    machine.issue.constant_turnaround = {};
    const auto at_once = kernel.run(machine, 160).results;
    machine.issue.constant_turnaround.set(26);
    const auto one_by_one = kernel.run(machine, 160).results;
    const double latency = static_cast<double>(*machine.operations.at("ld.const:operand").latency);
    machine.operations.erase("ld.const:operand");
    const auto free = kernel.run(machine, 160).results;
    EXPECT_NEAR(at_once[0] - free[0], latency, 2) << "the line depends on a register";
    EXPECT_NEAR(at_once[128] - free[128], latency, 8);
    EXPECT_EQ(one_by_one[0], at_once[0]);
    EXPECT_NEAR(one_by_one[128] - at_once[128], latency + 26, 8);
}

TEST(SassStages, WhatWaitsBehindABarrierIsChargedToTheBarrier) {
    const auto charged = [](bool defers) {
        auto machine = h200();
        machine.issue.barrier_defers.set(defers);
        const Word add = with(kAdd, {18, 255, 7, 255}, {.stall = 4});
        const Kernel kernel({offset_of_thread(100), sleep_of_thread(), with(kBlockBarrier, {}, {.stall = 1}), add, add,
                             shared_access(kSharedLoad, {.stall = 4})},
                            kSharedBytes);
        double cycles = 0;
        const Outcome outcome = kernel.run(machine, 64);
        for (const auto& instruction : outcome.code.stalls.instructions())
            cycles += instruction.cycles[static_cast<std::size_t>(costs::Stall::barrier)];
        return cycles;
    };
    EXPECT_GT(charged(true), 5000);
    EXPECT_NEAR(charged(true), charged(false), 20);
}

TEST(SassStages, ClockReadsAndWarpBarriersTakeTheDescribedCycles) {
    auto machine = h200();
    machine.clock.read_cost.set(9);
    EXPECT_EQ(Kernel({}).run(machine).results[0], 9U);
    machine.clock.read_cost.set(2);
    machine.issue.warp_barrier_latency.set(40);
    EXPECT_EQ(Kernel({with(kWarpBarrier, {}, {.stall = 5})}).run(machine).results[0], kFirst + 40);
}

TEST(SassStages, AWarpIssuesNoSoonerThanTheIlpLatency) {
    auto machine = h200();
    machine.issue.ilp_latency.set(6);
    const Kernel kernel(std::vector<Word>(20, with(kAdd, {18, 255, 7, 255}, {.stall = 1, .stay = true})));
    EXPECT_NEAR(kernel.run(machine).results[0], 21 * 6, 6);
}

TEST(SassStages, ResultsMayComeLaterForTheCudaCores) {
    auto machine = h200();
    const auto latency = *machine.operations.at("ex2.approx.ftz.f32").latency;
    const auto waits = [&](std::int64_t later) {
        machine.pipelines.at("sfu").forward_latency.set(*machine.pipelines.at("sfu").latency + later);
        return Kernel({with(kExponential, {6, 6}, {.stall = 2, .write_barrier = 2}),
                       with(kAdd, {18, 255, 7, 255}, {.stall = 4, .wait = 1 << 2})})
            .run(machine)
            .results[0];
    };
    EXPECT_EQ(waits(0), kFirst + latency + 4);
    EXPECT_EQ(waits(7), waits(0) + 7);
}

}  // namespace
}  // namespace gputomo::sim
