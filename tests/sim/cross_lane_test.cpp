// Instructions that exchange data between the threads of a warp, together and diverged.
#include "launching.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::sim::test::of_cross_lane {
namespace {

using testing::Each;
using testing::HasSubstr;

/// `body(builder, tid, result)` computes the u32 that each thread stores.
std::vector<std::uint32_t> results(const machine::Machine& machine,
                                   const std::function<void(KernelBuilder&, Reg, Reg)>& body,
                                   std::uint32_t threads = 32) {
    return stored_by_threads(machine, threads, body);
}

TEST(CrossLane, ShufflesMoveValues) {
    const auto shuffled = [](const char* mnemonic, int b, int c) {
        return results(small_machine(),
                       [&](KernelBuilder& k, Reg tid, Reg result) { k(mnemonic, result, tid, b, c, 0xFFFFFFFFU); });
    };
    const auto up = shuffled("shfl.sync.up.b32", 3, 0), down = shuffled("shfl.sync.down.b32", 5, 31);
    const auto butterfly = shuffled("shfl.sync.bfly.b32", 9, 31), segments = shuffled("shfl.sync.idx.b32", 2, 0x181F);
    for (std::uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(up[t], t < 3 ? t : t - 3);
        EXPECT_EQ(down[t], t + 5 > 31 ? t : t + 5);
        EXPECT_EQ(butterfly[t], t ^ 9);
        EXPECT_EQ(segments[t], t / 8 * 8 + 2) << "segments of 8";
    }
}

TEST(CrossLane, VotesAndMatches) {
    const auto odd = results(small_machine(), [](KernelBuilder& k, Reg tid, Reg result) {
        const Reg p = k.reg(Type::pred), bit = k.reg(Type::u32);
        k("and.b32", bit, tid, 1);
        k("setp.ne.u32", p, bit, 0);
        k("vote.sync.ballot.b32", result, p, 0xFFFFFFFFU);
    });
    EXPECT_THAT(odd, Each(0xAAAAAAAAU));
    const auto any = results(small_machine(), [](KernelBuilder& k, Reg tid, Reg result) {
        const Reg group = k.reg(Type::u32);
        k("shr.u32", group, tid, 3);
        k("match.any.sync.b32", result, group, 0xFFFFFFFFU);
    });
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(any[t], 0xFFU << (t / 8 * 8));
    const auto all = [](int shift) {
        return results(small_machine(), [&](KernelBuilder& k, Reg tid, Reg result) {
            const Reg group = k.reg(Type::u32), p = k.reg(Type::pred);
            k("shr.u32", group, tid, shift);
            k("match.all.sync.b32", result, p, group, 0xFFFFFFFFU);
            k.when(p)("add.u32", result, result, 2);
        });
    };
    EXPECT_THAT(all(5), Each(1U)) << "all agree: all ones and the predicate, -1 + 2";
    EXPECT_THAT(all(4), Each(0U));
}

TEST(CrossLane, ReductionsAndElections) {
    EXPECT_THAT(results(small_machine(), [](KernelBuilder& k, Reg tid,
                                            Reg result) { k("redux.sync.add.u32", result, tid, 0xFFFFFFFFU); }),
                Each(496U));
    const auto leaders = results(small_machine(), [](KernelBuilder& k, Reg, Reg result) {
        const Reg p = k.reg(Type::pred);
        k("elect.sync", result, p, 0xFFFFFFFFU);
        k.when(p)("add.u32", result, result, 100);
    });
    EXPECT_EQ(leaders[0], 100U);
    EXPECT_EQ(leaders[1], 0U);
}

/// Threads 0-15 and 16-31 reach one shfl on two paths, the second half later.
void meet_after_divergence(KernelBuilder& k, Reg tid, Reg result) {
    const Reg p = k.reg(Type::pred), value = k.reg(Type::u32);
    const auto slow = k.label(), join = k.label();
    k("setp.ge.u32", p, tid, 16);
    k("mov.u32", value, tid);
    k.when(p)("bra", slow);
    k("add.u32", value, value, 100);
    k("bra", join);
    k.place(slow);
    k.repeat(5, [&](int) { k("add.u32", value, value, 200); });
    k.place(join);
    k("shfl.sync.bfly.b32", result, value, 16, 31, 0xFFFFFFFFU);
}

TEST(CrossLane, DivergedThreadsWaitForEachOtherAtAShuffle) {
    for (const auto& machine : {small_machine(), independent_machine()}) {
        const auto found = results(machine, meet_after_divergence);
        for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(found[t], t < 16 ? t + 16 + 1000 : t - 16 + 100) << t;
    }
}

TEST(CrossLane, GroupsWithDifferentMemberMasksDoNotMix) {
    const auto sums = results(independent_machine(), [](KernelBuilder& k, Reg tid, Reg result) {
        const Reg group = k.reg(Type::u32), members = k.reg(Type::u32);
        k("and.b32", group, tid, 3);
        k("match.any.sync.b32", members, group, 0xFFFFFFFFU);
        k("redux.sync.add.u32", result, tid, members);
    });
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(sums[t], 8 * (t % 4) + 4 * 28) << t;
}

/// The upper half warp reaches a shfl that names the lower half, which takes another path first.
void shuffle_inside_a_branch(KernelBuilder& k, Reg tid, Reg result) {
    const Reg p = k.reg(Type::pred);
    k("setp.lt.u32", p, tid, 16);
    k.if_(
        p, [&] { k("shfl.sync.idx.b32", result, tid, 20, 31, 0xFFFFFFFFU); },
        [&] { k("shfl.sync.idx.b32", result, tid, 3, 31, 0xFFFFFFFFU); });
}

TEST(CrossLane, RefusesMissingMembersWithoutIndependentScheduling) {
    const auto message = message_of([] { (void)results(small_machine(), shuffle_inside_a_branch); });
    EXPECT_THAT(message, HasSubstr("are not there"));
    EXPECT_THAT(message, HasSubstr("shfl.sync.idx.b32"));
}

TEST(CrossLane, MembersAtDifferentInstructionsDeadlock) {
    const auto message = message_of([] { (void)results(independent_machine(), shuffle_inside_a_branch); });
    EXPECT_THAT(message, HasSubstr("deadlock: 1 warps left"));
    EXPECT_THAT(message, HasSubstr("threads 0x0000ffff waits at"));
    EXPECT_THAT(message, HasSubstr("threads 0xffff0000 waits at"));
}

TEST(CrossLane, RefusesAThreadOutsideItsOwnMemberMask) {
    const auto message = message_of([] {
        (void)results(small_machine(), [](KernelBuilder& k, Reg tid, Reg result) {
            k("shfl.sync.idx.b32", result, tid, 0, 31, 0xFFFEU);
        });
    });
    EXPECT_THAT(message, HasSubstr("not in its own member mask 0x0000fffe"));
    EXPECT_THAT(message, HasSubstr("thread 0"));
}

/// Each half reaches a bar.warp.sync of its own. What the lower half wrote before is visible to the upper half after
/// it.
void warp_barriers(KernelBuilder& k, Reg tid, Reg result) {
    const Reg p = k.reg(Type::pred), word = k.shared("word", Bytes(4));
    k("setp.lt.u32", p, tid, 16);
    k.if_(
        p,
        [&] {
            k.repeat(8, [&](int) { k("add.u32", result, result, 1); });
            k("st.shared.u32", Mem(word), result);
            k("bar.warp.sync", 0xFFFFFFFFU);
        },
        [&] {
            k("bar.warp.sync", 0xFFFFFFFFU);
            k("ld.shared.u32", result, Mem(word));
        });
}

TEST(CrossLane, WarpBarriersJoinThreadsAtDifferentInstructions) {
    EXPECT_THAT(results(independent_machine(), warp_barriers), Each(8U));
}

TEST(CrossLane, DoesNotWaitForThreadsThatEnded) {
    for (const auto& machine : {small_machine(), independent_machine()}) {
        const auto found = results(machine, [](KernelBuilder& k, Reg tid, Reg result) {
            const Reg p = k.reg(Type::pred);
            k("setp.lt.u32", p, tid, 8);
            k.when(p)("exit");
            k("redux.sync.add.u32", result, 1, 0xFFFFFFFFU);
        });
        EXPECT_EQ(found[31], 24U);
    }
}

}  // namespace
}  // namespace gputomo::sim::test::of_cross_lane
