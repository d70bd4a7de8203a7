// Predictions from PTX: strides of addresses, trip counts, paths through branches, and refusals.
#include "predict/static/lane_stride.hpp"
#include "predicting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace gputomo::predict::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// Stride of the only memory access of a kernel.
std::optional<std::int64_t> stride_of(const std::string& body) {
    for (const auto& instruction : compiled(ptx_of(body)).instructions)
        if (instruction.access) return instruction.access->stride;
    ADD_FAILURE() << "no access in " << body;
    return {};
}

const std::string kIndex =
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;\n";

TEST(LaneStride, FollowsIndexArithmetic) {
    EXPECT_EQ(stride_of(kIndex + "mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3+16];"),
              4);
    EXPECT_EQ(
        stride_of(
            kIndex +
            "shl.b32 %r5, %r4, 1; mul.wide.s32 %rd2, %r5, 8; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3];"),
        16);
    EXPECT_EQ(stride_of(kIndex + "mov.u32 %r5, 100; sub.s32 %r6, %r5, %r4; mul.wide.s32 %rd2, %r6, 4; add.s64 %rd3, "
                                 "%rd1, %rd2; ld.global.f32 %f1, [%rd3];"),
              -4);
    EXPECT_EQ(stride_of(kIndex + "mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3];"), 0);
}

TEST(LaneStride, DataDependentAddressesAreUnknown) {
    EXPECT_EQ(compiled(ptx_of(kIndex + "mul.wide.s32 %rd2, %r4, 8; add.s64 %rd3, %rd1, %rd2; ld.global.u64 %rd4, "
                                       "[%rd3]; ld.global.f32 %f1, [%rd4];"))
                  .instructions.at(8)
                  .access->stride,
              std::nullopt);
    EXPECT_EQ(
        stride_of(
            kIndex +
            "and.b32 %r5, %r4, 7; mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3];"),
        std::nullopt);
}

TEST(LaneStride, UniformLoadsAndCountersKeepAStride) {
    const std::string loop = kIndex +
                             "mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; mov.u32 %r7, 0;\nL: ld.global.f32 "
                             "%f1, [%rd3]; add.s64 %rd3, %rd3, 4096; "
                             "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 10; @%p1 bra L;";
    EXPECT_EQ(stride_of(loop), 4);
}

TEST(LaneStride, GuardsThatDifferMakeValuesUnknown) {
    EXPECT_EQ(stride_of(kIndex + "setp.lt.u32 %p1, %r3, 5; mov.u32 %r5, %r4; @%p1 mov.u32 %r5, %r1; mul.wide.s32 %rd2, "
                                 "%r5, 4; add.s64 %rd3, %rd1, %rd2; "
                                 "ld.global.f32 %f1, [%rd3];"),
              std::nullopt);
}

TEST(Coalescing, StridesCostSectorsAndTransactions) {
    const auto with_stride = [](int bytes) {
        return predicted(compiled(ptx_of(kIndex + "mul.wide.s32 %rd2, %r4, " + std::to_string(bytes) +
                                         "; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3];")),
                         "gtx980");
    };
    EXPECT_EQ(with_stride(4).bytes, 128);
    EXPECT_EQ(with_stride(8).bytes, 256);
    EXPECT_EQ(with_stride(128).bytes, 32 * 32);
    EXPECT_EQ(with_stride(128).work.reissues - with_stride(4).work.reissues, 31);
    EXPECT_EQ(with_stride(4).work.reissues, 7);  // a load takes 8 issue slots (Volkov 2016, 4.12)
    EXPECT_NEAR(with_stride(128).latency - with_stride(4).latency, 0, 1e-9);  // nothing waits for the load
    EXPECT_EQ(predicted(compiled(ptx_of("ld.global.f32 %f1, [%rd1];")), "gtx980").bytes, 32);
}

TEST(BankConflicts, FollowFromStrides) {
    const auto with_stride = [](int bytes, const std::string& machine) {
        auto p = predicted(
            compiled(ptx_of("mov.u32 %r1, s; mov.u32 %r2, %tid.x; mad.lo.s32 %r3, %r2, " + std::to_string(bytes) +
                            ", %r1; ld.shared.f32 %f1, [%r3]; add.f32 %f2, %f1, %f1;")),
            machine);
        return std::pair(p.worksheet.resource("shared memory banks").total(), p.latency);
    };
    EXPECT_DOUBLE_EQ(with_stride(4, "gtx980").first, 1);
    EXPECT_DOUBLE_EQ(with_stride(8, "gtx980").first, 2);
    EXPECT_DOUBLE_EQ(with_stride(12, "gtx980").first, 1);
    EXPECT_DOUBLE_EQ(with_stride(128, "gtx980").first, 32);
    EXPECT_DOUBLE_EQ(with_stride(0, "gtx980").first, 1);
    EXPECT_DOUBLE_EQ(with_stride(8, "gtx480").second - with_stride(4, "gtx480").second, 32);  // Table 6.2: smem2
    EXPECT_DOUBLE_EQ(with_stride(8, "gtx980").second - with_stride(4, "gtx980").second, 2);
}

std::string counted(const std::string& start, const std::string& step, const std::string& test) {
    return ptx_of("mov.u32 %r1, " + start + ";\nL: add.f32 %f1, %f1, %f2; " + step + " setp." + test + "; @%p1 bra L;");
}

TEST(TripCounts, FollowFromLiteralCounters) {
    const auto adds = [](const std::string& text) { return predicted(compiled(text), "gtx980").executions.at(2); };
    EXPECT_EQ(adds(counted("0", "add.s32 %r1, %r1, 1;", "lt.s32 %p1, %r1, 1000")), 1000);
    EXPECT_EQ(adds(counted("64", "add.s32 %r1, %r1, -4;", "ne.s32 %p1, %r1, 0")), 16);
    EXPECT_EQ(adds(counted("0", "add.s32 %r1, %r1, 3;", "le.u32 %p1, %r1, 9")), 4);
}

TEST(TripCounts, OtherwiseErrorsAskForThemByLabel) {
    const std::string text = ptx_of(
        "ld.global.u32 %r9, [%rd1]; mov.u32 %r1, 0;\nL: add.f32 %f1, %f1, %f2; add.s32 %r1, %r1, 1; setp.lt.s32 %p1, "
        "%r1, %r9; @%p1 bra L;");
    EXPECT_THAT(message_of([&] { (void)predicted(compiled(text), "gtx980"); }),
                HasSubstr("no trip count for the loop at L (line 10); expected --trip-count L=N"));
    EXPECT_EQ(predicted(compiled(text), "gtx980", {.path = {.trip_counts = {{"L", 7}}, .taken = {}}, .access = {}})
                  .executions.at(3),
              7);
    EXPECT_THAT(
        message_of([&] {
            (void)predicted(compiled(text), "gtx980", {.path = {.trip_counts = {{"M", 7}}, .taken = {}}, .access = {}});
        }),
        HasSubstr("--trip-count M: kernel 'k' has no such label; expected one of L"));
    EXPECT_THAT(
        message_of([&] {
            (void)predicted(compiled(text), "gtx980", {.path = {.trip_counts = {{"L", 0}}, .taken = {}}, .access = {}});
        }),
        HasSubstr("expected a number from 1 to 1e12"));
}

TEST(Loops, LongLoopsAreExtrapolatedExactly) {
    const auto latency = [](int turns) {
        const auto text = ptx_of(
            "mov.u32 %r1, 0;\nL: add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f2; add.s32 %r1, %r1, 1; setp.lt.s32 %p1, "
            "%r1, " +
            std::to_string(turns) + "; @%p1 bra L;");
        return predicted(compiled(text), "gtx480");
    };
    EXPECT_NEAR(latency(1000).latency - latency(500).latency, 50 * (latency(16).latency - latency(6).latency), 1e-6);
    EXPECT_NEAR(latency(1000).work.issues(), latency(10).work.issues() + 990 * 5, 1e-6);
}

TEST(Loops, NestAndMultiply) {
    const auto text = ptx_of(
        "mov.u32 %r1, 0;\nA: mov.u32 %r2, 0;\nB: add.f32 %f1, %f1, %f2; add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, 30; "
        "@%p2 bra B;\nadd.s32 %r1, %r1, 1; "
        "setp.lt.s32 %p1, %r1, 20; @%p1 bra A;");
    EXPECT_EQ(predicted(compiled(text), "gtx980").executions.at(3), 600);
}

TEST(Branches, FallThroughUnlessChosen) {
    const std::string text = ptx_of(
        "ld.global.u32 %r9, [%rd1]; setp.gt.s32 %p1, %r9, 0; @%p1 bra E; add.f32 %f1, %f1, %f2; bra J;\nE: mul.f32 "
        "%f1, %f1, %f2; mul.f32 %f1, %f1, %f2;\nJ: "
        "st.global.f32 [%rd1], %f1;");
    const auto fallen = predicted(compiled(text), "gtx980");
    EXPECT_EQ(fallen.executions.at(4), 1);
    EXPECT_EQ(fallen.executions.at(6), 0);
    EXPECT_EQ(fallen.executions.at(8), 1);
    EXPECT_THAT(fallen.assumptions, Contains(HasSubstr("the branch to E in line 9 is not taken (--taken E)")));
    const auto taken = predicted(compiled(text), "gtx980", {.path = {.trip_counts = {}, .taken = {"E"}}, .access = {}});
    EXPECT_EQ(taken.executions.at(4), 0);
    EXPECT_EQ(taken.executions.at(7), 1);
}

TEST(Branches, OverALoopAreRefusedUnlessChosen) {
    const std::string text = ptx_of(
        "ld.global.u32 %r9, [%rd1]; setp.gt.s32 %p1, %r9, 0; @%p1 bra E;\nmov.u32 %r1, 0;\nL: add.s32 %r1, %r1, 1; "
        "setp.lt.s32 %p2, %r1, 10; @%p2 bra L;\nE: st.global.f32 [%rd1], %f1;");
    const auto with = [&](std::set<std::string> taken, std::set<std::string> untaken) {
        return predicted(compiled(text), "gtx980",
                         {.path = {.taken = std::move(taken), .untaken = std::move(untaken), .refuses_guesses = true},
                          .access = {}});
    };
    EXPECT_THAT(message_of([&] { (void)with({}, {}); }),
                AllOf(HasSubstr("the branch to E in line 9 passes over the loop at L"),
                      HasSubstr("expected --taken E or --untaken E")));
    EXPECT_EQ(with({"E"}, {}).executions.at(5), 0);
    EXPECT_EQ(with({}, {"E"}).executions.at(5), 10);
    EXPECT_THAT(message_of([&] { (void)with({"E"}, {"E"}); }), HasSubstr("also found with --taken"));
}

TEST(Refusals, NameLineAndReason) {
    EXPECT_THAT(message_of([] { (void)compiled(ptx_of("nanosleep.u32 %r1;")); }),
                HasSubstr("ptx:9: 'nanosleep.u32' can't be predicted"));
    EXPECT_THAT(message_of([] { (void)compiled(ptx_of(""), "other"); }),
                HasSubstr("no kernel 'other'; expected one of k"));
    const auto text = ptx_of("ld.global.f32 %f1, [%rd1];");
    EXPECT_THAT(
        message_of([&] {
            (void)predicted(compiled(text), "gtx980", {.path = {}, .access = {.transactions = {{3, 2}}, .ways = {}}});
        }),
        HasSubstr("line 3 of ptx has no such access"));
    EXPECT_THAT(
        message_of([&] {
            (void)predicted(compiled(text), "gtx980", {.path = {}, .access = {.transactions = {{9, 40}}, .ways = {}}});
        }),
        HasSubstr("expected 1 to 32"));
    EXPECT_THAT(message_of([&] {
                    (void)predicted(compiled(text), "gtx980",
                                    {.path = {}, .access = {.transactions = {}, .ways = {}, .l1_hit_rate = 1.5}});
                }),
                HasSubstr("--l1-hit 1.5: expected 0 to 1"));
    EXPECT_THAT(message_of([&] {
                    (void)predicted(compiled(text), "gtx980",
                                    {.path = {}, .access = {.transactions = {}, .ways = {}, .l1_hit_rate = 0.5}});
                }),
                HasSubstr("describes no cache of the SM"));
}

TEST(NvccKernels, ArePredictedOrRefusedWithAReason) {
    for (const auto& [file, counts] :
         std::map<std::string, std::map<std::string, double>>{{"vector_add", {}},
                                                              {"histogram", {{"$L__BB0_5", 100}, {"$L__BB0_8", 3}}},
                                                              {"matrix_multiply", {{"$L__BB0_2", 64}}},
                                                              {"option_price", {}},
                                                              {"reduction", {{"$L__BB0_2", 10}}},
                                                              {"switch_table", {}}}) {
        const auto p = predicted(compiled(text_of("ptx/" + file + ".ptx"), file), "gtx980",
                                 {.path = {.trip_counts = counts, .taken = {}}, .access = {}});
        EXPECT_GT(p.latency, 368) << file;
        EXPECT_GT(p.needed_warps, 1) << file;
        EXPECT_GE(p.points.back().warps_per_cycle, p.points.front().warps_per_cycle) << file;
    }
    EXPECT_THAT(message_of([] { (void)compiled(text_of("ptx/local_and_texture.ptx"), "local_and_texture"); }),
                HasSubstr("'tex.1d.v4.s32.s32' can't be predicted"));
}

/// Features of the PTX that nvcc 11 and 12 write: a local depot, vector stores, shared memory with a mangled name,
/// combined predicates, a call of printf.
TEST(NvccKernels, MayHaveFeaturesOfRealKernels) {
    const auto local = text_of("ptx/local_array.ptx");
    EXPECT_THAT(message_of([&] { (void)predicted(compiled(local, "_Z9histogramPKhPji"), "gtx980"); }),
                HasSubstr("no trip count for the loop at $L__BB0_2 (line 44)"));
    const auto turns = [&](double count) {
        return predicted(compiled(local, "_Z9histogramPKhPji"), "gtx980",
                         {.path = {.trip_counts = {{"$L__BB0_2", count}}, .taken = {}}, .access = {}});
    };
    EXPECT_GT(turns(51).latency - turns(50).latency, 2 * 368);  // a byte, then the local word that it picks
    const auto stencil = predicted(compiled(text_of("ptx/stencil.ptx"), "_Z7stencilPKfPfii"), "gtx980");
    EXPECT_GT(stencil.latency, 2 * 368);  // its tile, and the edge that it falls through to
    EXPECT_EQ(stencil.bytes, 3 * 128);
    EXPECT_THAT(message_of([] { (void)compiled(text_of("ptx/call.ptx"), "_Z5hellov"); }),
                HasSubstr("ptx:39: 'call.uni' can't be predicted"));
}

/// typical.cu holds kernels that predict was not written for: shuffles, shared tiles, indirect loads, double precision,
/// packed halves, and one with MMA instructions.
TEST(NvccKernels, OfOneFileArePredictedOneByOne) {
    const auto text = text_of("ptx/typical.ptx");
    const auto of = [&](const std::string& kernel, std::map<std::string, double> trips = {},
                        std::map<int, double> transactions = {}) {
        return predicted(compiled(text, kernel), "h200",
                         {.path = {.trip_counts = std::move(trips), .taken = {}},
                          .access = {.transactions = std::move(transactions), .ways = {}}});
    };
    EXPECT_EQ(of("haxpy").bytes, 3 * 128);
    auto tile = of("transpose");
    EXPECT_EQ(tile.bytes, 8 * 128);  // four rows read and four written: the tile makes both coalesced
    EXPECT_EQ(tile.worksheet.resource("shared memory banks").total(), 8);  // rows of 33 words: no conflicts
    const auto rows = [&](double turns) {
        return of("softmax", {{"$L__BB0_2", turns}, {"$L__BB0_7", turns}, {"$L__BB0_12", turns}});
    };
    EXPECT_EQ(rows(9).bytes - rows(8).bytes, 4 * 128);  // read three times, written once
    EXPECT_GT(rows(1).latency, 20 * 23);                // twenty shuffles, one after the other
    const auto bodies = of("nbody", {{"$L__BB3_2", 16}});
    EXPECT_EQ(bodies.limited_by, "warp scheduler");
    EXPECT_NEAR(bodies.work.issues() / (16 * 256), 20,
                3);  // Nyland, Harris and Prins 2007: 20 operations for each pair
    const auto sums = [&](double lines) {
        return of("spmv", {{"$L__BB2_4", 8}, {"$L__BB2_7", 4}}, {{359, lines}}).latency;
    };
    EXPECT_GT(sums(32) - sums(1), 8 * 31 * 10);  // x[col[j]] anywhere: fifteen cycles for each further line
    EXPECT_GT(of("dot_double", {{"$L__BB4_2", 20}}).worksheet.resource("double precision units").total(), 20 * 32 / 64);
    EXPECT_GT(of("scan_block").latency, 20 * 14);  // twenty barriers
    EXPECT_THAT(message_of([&] { (void)of("collatz"); }),
                HasSubstr("ptx:787: this branch goes back to code that no loop starts with; expected nested loops"));
    EXPECT_THAT(message_of([&] { (void)of("wmma_tile"); }), HasSubstr("ptx:1028: unknown instruction 'wmma.load.a"));
}

TEST(ScatteredLoads, ReadWholeMemoryBurstsEvenIfAScanLeftTwoCandidates) {
    auto machine = machine_named("gtx980");
    const auto code = compiled(ptx_of("ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, %f1;"));
    auto& read = machine.memory.fetch_bytes;
    machine.memory.transaction_sizes = {};
    const auto bytes = [&] {
        return predict(code, machine, {.path = {}, .access = {.transactions = {{9, 32}}, .ways = {}}}, "test").bytes;
    };
    read = {}, read.set(102);
    EXPECT_EQ(bytes(), 32 * 102);
    read = {}, read.knowledge = machine::Knowledge::undecided, read.candidates = {102, 104};
    EXPECT_EQ(bytes(), 32 * 103);
}

TEST(CacheHits, ReduceTrafficAndLatency) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/tests/data/machines/kepler_like.json");
    const auto code = compiled(ptx_of(
        kIndex +
        "mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f1, %f1;"));
    const auto with = [&](double l1, double l2) {
        return predict(code, machine,
                       {.path = {}, .access = {.transactions = {}, .ways = {}, .l1_hit_rate = l1, .l2_hit_rate = l2}},
                       "kepler_like");
    };
    EXPECT_DOUBLE_EQ(with(0, 0).latency - with(1, 0).latency, 301 - 35);
    EXPECT_DOUBLE_EQ(with(0, 0).latency - with(0, 1).latency, 301 - 222);
    EXPECT_DOUBLE_EQ(with(0.5, 0.5).bytes, 32);
}

}  // namespace
}  // namespace gputomo::predict::testing
