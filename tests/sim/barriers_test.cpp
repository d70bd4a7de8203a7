// Block barriers in kernels: which warps they wait for, what they compute, and what a deadlock report says.
#include "launching.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::sim::test {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr std::uint32_t kThreads = 96;

/// `body(builder, tid, result)` computes what each of 96 threads stores.
std::vector<std::uint32_t> results(const machine::Machine& machine,
                                   const std::function<void(KernelBuilder&, Reg, Reg)>& body) {
    return stored_by_threads(machine, kThreads, body);
}

Reg below(KernelBuilder& k, Reg tid, int limit) {
    const Reg p = k.reg(Type::pred);
    k("setp.lt.u32", p, tid, limit);
    return p;
}

class EveryDivergence : public testing::TestWithParam<bool> {
protected:
    static machine::Machine gpu() { return GetParam() ? independent_machine() : small_machine(); }
};
INSTANTIATE_TEST_SUITE_P(Barriers, EveryDivergence, testing::Bool(),
                         [](const auto& info) { return info.param ? "Independent" : "Stack"; });

TEST_P(EveryDivergence, WritesBeforeABarrierAreVisibleAfterIt) {
    const auto found = results(gpu(), [](KernelBuilder& k, Reg tid, Reg result) {
        const Reg words = k.shared("words", Bytes(4 * kThreads)), at = k.reg(Type::u32), other = k.reg(Type::u32);
        k("mad.lo.u32", at, tid, 4, words);
        k("st.shared.u32", Mem(at), tid);
        k("bar.sync", 0);
        k("sub.u32", other, 4 * (kThreads - 1), at);  // shared memory starts at 0
        k("ld.shared.u32", result, Mem(other));
    });
    for (std::uint32_t t = 0; t < kThreads; ++t) EXPECT_EQ(found[t], kThreads - 1 - t);
}

TEST_P(EveryDivergence, ReductionsCountAllThreads) {
    EXPECT_THAT(results(gpu(), [](KernelBuilder& k, Reg tid,
                                  Reg result) { k("bar.red.popc.u32", result, 0, below(k, tid, 70)); }),
                Each(70U));
    const auto and_or = [](int limit) {
        return results(gpu(), [&](KernelBuilder& k, Reg tid, Reg result) {
            const Reg all = k.reg(Type::pred), any = k.reg(Type::pred), p = below(k, tid, limit),
                      more = k.reg(Type::u32);
            k("bar.red.and.pred", all, 0, p);
            k("bar.red.or.pred", any, 1, p);
            k("selp.u32", result, 10, 0, all);
            k("selp.u32", more, 1, 0, any);
            k("add.u32", result, result, more);
        });
    };
    EXPECT_THAT(and_or(0), Each(0U));
    EXPECT_THAT(and_or(5), Each(1U));
    EXPECT_THAT(and_or(96), Each(11U));
}

TEST_P(EveryDivergence, ReductionsTakeComplements) {
    EXPECT_THAT(results(gpu(), [](KernelBuilder& k, Reg tid,
                                  Reg result) { k("bar.red.popc.u32", result, 0, !below(k, tid, 70)); }),
                Each(26U));
}

TEST_P(EveryDivergence, BarArriveDoesNotWait) {
    const auto found = results(gpu(), [](KernelBuilder& k, Reg tid, Reg result) {
        const Reg word = k.shared("word", Bytes(4)), producer = below(k, tid, 32);
        k.if_(
            producer,
            [&] {  // warp 0 writes and continues; the others wait for it
                k("st.shared.u32", Mem(word), 42);
                k("bar.arrive", 3, kThreads);
            },
            [&] {
                k("bar.sync", 3, kThreads);
                k("ld.shared.u32", result, Mem(word));
            });
    });
    for (std::uint32_t t = 32; t < kThreads; ++t) EXPECT_EQ(found[t], 42U);
}

TEST_P(EveryDivergence, DoesNotWaitForWarpsThatEnded) {
    const auto found = results(gpu(), [](KernelBuilder& k, Reg tid, Reg result) {
        k.when(below(k, tid, 32))("exit");
        k("bar.red.popc.u32", result, 0, below(k, tid, 1000));
    });
    EXPECT_EQ(found[95], 64U);
}

TEST_P(EveryDivergence, NamedBarriersAreSeparate) {
    const auto found = results(gpu(), [](KernelBuilder& k, Reg tid, Reg result) {
        const Reg first = below(k, tid, 64);
        k.if_(
            first,
            [&] {
                k("bar.sync", 1, 64);
                k("mov.u32", result, 1);
            },
            [&] {
                k("bar.sync", 2, 32);
                k("mov.u32", result, 2);
            });
        k("bar.sync", 0);
    });
    for (std::uint32_t t = 0; t < kThreads; ++t) EXPECT_EQ(found[t], t < 64 ? 1U : 2U);
}

TEST_P(EveryDivergence, ADeadlockReportNamesWarpsInstructionsAndArrivals) {
    const auto message = message_of([] {
        (void)results(gpu(), [](KernelBuilder& k, Reg tid, Reg) {
            const Reg first = below(k, tid, 32);
            k.if_(
                first, [&] { k("bar.sync", 5, 96); }, [&] { k("bar.sync", 6, 96); });
        });
    });
    EXPECT_THAT(message, HasSubstr("launch of threads: deadlock: 3 warps left"));
    EXPECT_THAT(message, HasSubstr("block (0, 0, 0) warp 0 waits at line"));
    EXPECT_THAT(message, HasSubstr("bar.sync 5, 96;"));
    EXPECT_THAT(message,
                HasSubstr(GetParam() ? "(barrier 5, 32 threads arrived of 96)" : "(barrier 5, 1 warps arrived of 3)"));
    EXPECT_THAT(message, HasSubstr("warp 2 waits at line"));
    EXPECT_THAT(message, HasSubstr("bar.sync 6, 96;"));
    for (const auto* state :
         {"fetch: instructions are always there", "operands: all ready at cycle ",
          "block launch: 1 of 1 blocks started", "load/store unit of SM 0: shared memory banks free from cycle ",
          "scheduler 0 of SM 0: 3 warps, last issue at"})
        EXPECT_THAT(message, HasSubstr(state)) << "every unit prints its state";
}

TEST_P(EveryDivergence, RefusesWrongBarriersAndThreadCounts) {
    const auto message = [](int number, int threads) {
        return message_of(
            [&] { (void)results(gpu(), [&](KernelBuilder& k, Reg, Reg) { k("bar.sync", number, threads); }); });
    };
    EXPECT_THAT(message(16, 96), HasSubstr("barrier 16 named; expected one below 16"));
    EXPECT_THAT(message(0, 40), HasSubstr("barrier 0: 40 threads asked; expected a multiple of 32"));
    EXPECT_EQ(message(15, 96), "");
}

TEST(Barriers, RefusesTwoThreadCountsAtOneBarrier) {
    const auto message = message_of([] {
        (void)results(small_machine(), [](KernelBuilder& k, Reg tid, Reg) {
            k.if_(
                below(k, tid, 32), [&] { k("bar.sync", 1, 64); }, [&] { k("bar.sync", 1, 96); });
        });
    });
    EXPECT_THAT(message, HasSubstr("while others wait there for another number"));
}

/// Wong 2010, IV-D: half of each warp comes to one barrier, the other half to another.
void barrier_in_both_branches(KernelBuilder& k, Reg tid, Reg result) {
    const Reg half = k.reg(Type::u32), p = k.reg(Type::pred);
    k("and.b32", half, tid, 16);
    k("setp.eq.u32", p, half, 0);
    k.if_(
        p,
        [&] {
            k("bar.sync", 0);
            k("add.u32", result, result, 1);
        },
        [&] {
            k("bar.sync", 0);
            k("add.u32", result, result, 2);
        });
}

TEST(Barriers, CountingWarpsReleasesEachHalfAndCountingThreadsJoinsThem) {
    for (const auto& machine : {small_machine(), independent_machine()}) {
        const auto found = results(machine, barrier_in_both_branches);
        for (std::uint32_t t = 0; t < kThreads; ++t) EXPECT_EQ(found[t], t % 32 < 16 ? 1U : 2U);
    }
    auto strict = small_machine();
    strict.issue.barrier_granularity.set("thread");
    EXPECT_THAT(message_of([&] { (void)results(strict, barrier_in_both_branches); }), HasSubstr("deadlock"));
}

}  // namespace
}  // namespace gputomo::sim::test
