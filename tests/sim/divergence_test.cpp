// Diverged threads of a warp, on a stack and independently: the results are the same, the order is not.
#include "launching.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::sim::test {
namespace {

struct Kind {
    std::string name;
    machine::Machine gpu;
};

machine::Machine fall_through_first() {
    auto machine = small_machine();
    machine.issue.first_path.set("fall-through");
    return machine;
}

class EveryKind : public testing::TestWithParam<Kind> {
protected:
    static std::vector<std::uint32_t> results(const std::function<void(KernelBuilder&, Reg, Reg)>& body) {
        return stored_by_threads(GetParam().gpu, 64, body);
    }
};
INSTANTIATE_TEST_SUITE_P(Divergence, EveryKind,
                         testing::Values(Kind{"TakenFirst", small_machine()},
                                         Kind{"FallThroughFirst", fall_through_first()},
                                         Kind{"Independent", independent_machine()}),
                         [](const auto& info) { return info.param.name; });

TEST_P(EveryKind, EachThreadRunsItsOwnNumberOfLoopIterations) {
    const auto found = results([](KernelBuilder& k, Reg tid, Reg result) {
        const Reg iterations = k.reg(Type::u32);
        k("and.b32", iterations, tid, 7);
        k.while_(
            [&] {
                const Reg p = k.reg(Type::pred);
                k("setp.lt.u32", p, result, iterations);
                return ptx::Condition(p);
            },
            [&] { k("add.u32", result, result, 1); });
        k("mad.lo.u32", result, result, 10, 1);
    });
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(found[t], t % 8 * 10 + 1);
}

TEST_P(EveryKind, NestedBranchesReconverge) {
    const auto found = results([](KernelBuilder& k, Reg tid, Reg result) {
        const auto bit = [&](int which) {
            const Reg b = k.reg(Type::u32), p = k.reg(Type::pred);
            k("and.b32", b, tid, which);
            k("setp.ne.u32", p, b, 0);
            return p;
        };
        const auto add = [&](int value) { k("add.u32", result, result, value); };
        k.if_(
            bit(1),
            [&] {
                add(1);
                k.if_(
                    bit(2), [&] { add(2); }, [&] { add(100); });
                add(1000);
            },
            [&] { k.if_(bit(4), [&] { add(4); }); });
        add(10000);
    });
    for (std::uint32_t t = 0; t < 64; ++t) {
        const std::uint32_t inner = (t & 1) != 0 ? 1001 + ((t & 2) != 0 ? 2 : 100) : (t & 4);
        EXPECT_EQ(found[t], 10000 + inner);
    }
}

TEST_P(EveryKind, IndexedBranchesReachEveryTarget) {
    const auto found = results([](KernelBuilder& k, Reg tid, Reg result) {
        const Reg index = k.reg(Type::u32);
        k("and.b32", index, tid, 3);
        const std::vector<ptx::Label> ways{k.label(), k.label(), k.label(), k.label()};
        const auto join = k.label();
        k.branch_table(index, ways);
        for (int i = 0; i < 4; ++i) {
            k.place(ways[static_cast<std::size_t>(i)]);
            k("add.u32", result, result, 10 + i);
            k("bra", join);
        }
        k.place(join);
        k("add.u32", result, result, 100);
    });
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(found[t], 110 + t % 4);
}

TEST_P(EveryKind, ThreadsCanEndOneByOne) {
    const auto found = results([](KernelBuilder& k, Reg tid, Reg result) {
        const Reg p = k.reg(Type::pred);
        k.loop(32, [&](Reg iteration) {
            k("add.u32", result, result, 1);
            k("setp.eq.u32", p, iteration, tid);
            k.when(p)("exit");
        });
    });
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(found[t], t < 32 ? 0 : 32) << "those that ended stored nothing";
}

/// After Wong 2010, Listing 3: the order of atomics shows which half of a warp runs first.
TEST_P(EveryKind, RunsTheDescribedPathFirst) {
    const auto found = results([](KernelBuilder& k, Reg tid, Reg result) {
        const Reg counter = k.shared("counter", Bytes(8)), at = k.reg(Type::u32), half = k.reg(Type::u32),
                  p = k.reg(Type::pred);
        k("shr.u32", at, tid, 5);
        k("mad.lo.u32", at, at, 4, counter);  // one counter for each warp
        k("and.b32", half, tid, 16);
        k("setp.ne.u32", p, half, 0);
        const auto taken = k.label(), join = k.label();
        k.when(p)("bra", taken);
        k("atom.shared.add.u32", result, Mem(at), 1);
        k("bra", join);
        k.place(taken);
        k("atom.shared.add.u32", result, Mem(at), 1);
        k.place(join);
    });
    const bool taken_first = found[16] < found[0];
    if (GetParam().name != "Independent") {
        EXPECT_EQ(taken_first, GetParam().name == "TakenFirst");
    }
    EXPECT_EQ(std::max(found[0], found[16]) / 16, 1U) << "one half after the other";
}

TEST(DivergedWarps, RefusesABranchIndexBeyondTheTable) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("wild", kTarget);
    (void)k.param(Type::u64, "out");
    const auto end = k.label();
    k.branch_table(k.special(SpecialRegister::tid_x), {end, end});
    k.place(end);
    EXPECT_THAT(message_of([&] { (void)run(*gpu, k, 1, {}, {3}); }), testing::HasSubstr("branch index 2 of 2"));
}

TEST(DivergedWarps, CountsDivergentBranches) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("counted", kTarget);
    (void)k.param(Type::u64, "out");
    const Reg q = k.reg(Type::pred);
    k("setp.lt.u32", q, k.special(SpecialRegister::tid_x), 40);
    k.if_(q, [&] { k("membar.cta"); });
    (void)run(*gpu, k, 1, {}, {64});
    EXPECT_EQ(gpu->counters().divergent_branches, 1U) << "of two warps one divided";
}

}  // namespace
}  // namespace gputomo::sim::test
