#include "ptx/builder.hpp"

#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

namespace gputomo::ptx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Target kTarget{7, 0, 70};

/// The body as text, one instruction per line, without the final ret.
std::vector<std::string> lines(const KernelBuilder& builder) {
    const Kernel kernel = builder.build().kernels.at(0);
    std::vector<std::string> text;
    for (const Instruction& instruction : kernel.body) text.push_back(to_text(kernel, instruction));
    EXPECT_EQ(text.back(), "ret;");
    text.pop_back();
    return text;
}

std::string misuse_of(const std::function<void(KernelBuilder&)>& use) {
    KernelBuilder k("k", kTarget);
    try {
        use(k);
        static_cast<void>(k.build());
    } catch (const std::logic_error& error) {
        return error.what();
    }
    return "no error";
}

void expect_round_trip(const Module& module) {
    EXPECT_TRUE(equivalent(module, parse(to_text(module)))) << to_text(module);
}

TEST(Builder, LoadsParametersAndAddressesBeforeTheBody) {
    KernelBuilder k("k", kTarget);
    const Reg d = k.reg(Type::u32);
    k("mov.u32", d, 1);
    const Reg out = k.param(Type::u64, "out");
    const Reg shared = k.shared("buffer", Bytes{64});
    k("st.shared.u32", Mem{shared, 8}, d);
    k("st.global.u32", Mem{out, -4}, d);
    EXPECT_THAT(lines(k), ElementsAre("ld.param.u64 %u64_0, [out];", "mov.u32 %u32_1, buffer;", "mov.u32 %u32_0, 1;",
                                      "st.shared.u32 [%u32_1+8], %u32_0;", "st.global.u32 [%u64_0+-4], %u32_0;"));
    expect_round_trip(k.build());
}

TEST(Builder, WritesEveryKindOfOperand) {
    KernelBuilder k("k", kTarget);
    const auto r = k.regs(Type::u32, 4);
    const Reg texture = k.param(Type::u64, "texture");
    const Reg p = k.reg(Type::pred), q = k.reg(Type::pred), f = k.reg(Type::f32);
    k("tex.1d.v4.u32.s32", Vec{r}, Mem{texture}, Vec{r[0]});
    k("setp.lt.and.u32", p, q, r[0], 7u, !p);
    k("shfl.sync.idx.b32", r[0], q, r[1], 0, 31, -1);
    k("shfl.sync.idx.b32", r[0], r[1], 0, 31, -1);
    k("selp.b32", r[0], r[1], r[2], p);
    k("add.f32", f, f, 1);
    k("mul.f32", f, f, 0.1);
    k("ld.shared.v2.u32", Vec{r[0], Sink{}}, Mem{r[1]});
    k.when(p)("st.shared.u32", Mem{r[1]}, r[0]);
    k.unless(p)("st.shared.u32", Mem{r[1]}, r[0]);
    const auto text = lines(k);
    EXPECT_THAT(std::vector(text.begin() + 1, text.end()),
                ElementsAre("tex.1d.v4.u32.s32 {%u32_0, %u32_1, %u32_2, %u32_3}, [%u64_0, {%u32_0}];",
                            "setp.lt.and.u32 %pred_0|%pred_1, %u32_0, 7, !%pred_0;",
                            "shfl.sync.idx.b32 %u32_0|%pred_1, %u32_1, 0, 31, -1;",
                            "shfl.sync.idx.b32 %u32_0, %u32_1, 0, 31, -1;", "selp.b32 %u32_0, %u32_1, %u32_2, %pred_0;",
                            "add.f32 %f32_0, %f32_0, 0f3F800000;", "mul.f32 %f32_0, %f32_0, 0f3DCCCCCD;",
                            "ld.shared.v2.u32 {%u32_0, _}, [%u32_1];", "@%pred_0 st.shared.u32 [%u32_1], %u32_0;",
                            "@!%pred_0 st.shared.u32 [%u32_1], %u32_0;"));
    expect_round_trip(k.build());
}

TEST(Builder, RepeatUnrollsAndLoopCounts) {
    KernelBuilder k("k", kTarget);
    const Reg n = k.param(Type::u32, "n");
    const Reg a = k.reg(Type::u32);
    k.loop(n, [&](Reg iteration) { k.repeat(2, [&](int i) { k("add.u32", a, iteration, i); }); });
    EXPECT_THAT(lines(k),
                ElementsAre("ld.param.u32 %u32_0, [n];", "mov.u32 %u32_2, 0;", "setp.lt.u32 %pred_0, %u32_2, %u32_0;",
                            "@!%pred_0 bra $L1;", "add.u32 %u32_1, %u32_2, 0;", "add.u32 %u32_1, %u32_2, 1;",
                            "add.u32 %u32_2, %u32_2, 1;", "setp.lt.u32 %pred_0, %u32_2, %u32_0;", "@%pred_0 bra $L0;"));
    const Kernel kernel = k.build().kernels.at(0);
    EXPECT_EQ(kernel.labels.at("$L0"), 4u);
    EXPECT_EQ(kernel.labels.at("$L1"), 9u);
    EXPECT_THAT(kernel.pragmas, ElementsAre("nounroll"));
    expect_round_trip(k.build());
}

TEST(Builder, BranchesBothWays) {
    KernelBuilder k("k", kTarget);
    const Reg a = k.reg(Type::s32), p = k.reg(Type::pred);
    k.if_(
        !p, [&] { k("add.s32", a, a, 1); }, [&] { k("add.s32", a, a, 2); });
    k.while_(
        [&] {
            k("setp.lt.s32", p, a, 9);
            return Condition(p);
        },
        [&] { k("add.s32", a, a, 3); });
    EXPECT_THAT(lines(k), ElementsAre("@%pred_0 bra $L0;", "add.s32 %s32_0, %s32_0, 1;", "bra $L1;",
                                      "add.s32 %s32_0, %s32_0, 2;", "setp.lt.s32 %pred_0, %s32_0, 9;",
                                      "@!%pred_0 bra $L3;", "add.s32 %s32_0, %s32_0, 3;", "bra $L2;"));
    const auto labels = k.build().kernels.at(0).labels;
    EXPECT_EQ(labels.at("$L0"), 3u);
    EXPECT_EQ(labels.at("$L1"), 4u);
    EXPECT_EQ(labels.at("$L2"), 4u);
    EXPECT_EQ(labels.at("$L3"), 8u);
    expect_round_trip(k.build());
}

TEST(Builder, ClockAfterWaitsForTheResult) {
    KernelBuilder k("k", kTarget);
    const Reg f = k.reg(Type::f32), d = k.reg(Type::u64), h = k.reg(Type::b16);
    k.clock_after(f);
    k.clock64_after(d);
    k.clock_after(h);
    EXPECT_THAT(
        lines(k),
        ElementsAre("setp.eq.b32 %pred_0, %f32_0, 2145299888;", "@%pred_0 pmevent 0;", "mov.u32 %u32_0, %clock;",
                    "setp.eq.b64 %pred_1, %u64_0, 2145299889;", "@%pred_1 pmevent 0;", "mov.u64 %u64_1, %clock64;",
                    "setp.eq.b16 %pred_2, %b16_0, 11698;", "@%pred_2 pmevent 0;", "mov.u32 %u32_1, %clock;"));
    expect_round_trip(k.build());
}

TEST(Builder, BranchTableNamesItsTargets) {
    KernelBuilder k("k", kTarget);
    const Reg i = k.param(Type::u32, "i");
    const Label a = k.label(), b = k.label();
    k.branch_table(i, {a, b});
    k.place(a);
    k("membar.cta");
    k.place(b);
    const Module module = k.build();
    EXPECT_THAT(module.kernels[0].branch_targets.at("$T0"), ElementsAre("$L0", "$L1"));
    expect_round_trip(module);
}

TEST(Builder, ModuleArraysAndDynamicSharedMemoryAreDeclaredOnce) {
    const ModuleArray table{
        .name = "table", .space = Space::constant, .type = Type::u32, .size = Bytes{8}, .initial = {1, 2}};
    ModuleBuilder m(kTarget);
    for (const char* name : {"first", "second"}) {
        KernelBuilder k(name, kTarget);
        const Reg value = k.reg(Type::u32);
        k("ld.const.u32", value, Mem{k.array(table), 4});
        k("st.shared.u32", Mem{k.dynamic_shared(Bytes{8})}, value);
        k("st.local.u32", Mem{k.local("own", Bytes{16})}, value);
        m.add(k);
    }
    const Module module = m.build();
    ASSERT_EQ(module.variables.size(), 2u);
    EXPECT_THAT(module.variables[0].initial, ElementsAre(1, 2, 0, 0, 0, 0, 0, 0));
    EXPECT_TRUE(module.variables[1].is_extern);
    EXPECT_EQ(module.kernels.size(), 2u);
    expect_round_trip(module);

    KernelBuilder other("third", kTarget);
    ModuleArray changed = table;
    changed.initial = {9};
    other.array(changed);
    EXPECT_THROW(m.add(other), std::logic_error);
    EXPECT_THROW(m.add(KernelBuilder("first", kTarget)), std::logic_error);
    EXPECT_THROW(m.add(KernelBuilder("fourth", Target{6, 0, 30})), std::logic_error);
}

TEST(Builder, ThreadIndexAndElementAddresses) {
    KernelBuilder k("k", kTarget);
    k.max_threads(256);
    const Reg base = k.param(Type::u64, "base");
    const Reg at = k.element(base, k.thread_index(), Bytes{4});
    k("st.global.u32", Mem{at}, 0);
    const auto text = lines(k);
    EXPECT_EQ(text.at(4), "mad.lo.u32 %u32_3, %u32_0, %u32_1, %u32_2;");
    EXPECT_EQ(text.at(5), "mad.wide.u32 %u64_1, %u32_3, 4, %u64_0;");
    EXPECT_EQ(k.build().kernels[0].max_threads, 256);
    expect_round_trip(k.build());
}

TEST(Builder, MisuseNamesKernelAndInstruction) {
    EXPECT_THAT(misuse_of([](auto& k) { k("add.q32", k.reg(Type::u32), 1, 2); }),
                HasSubstr("kernel 'k', 'add.q32': unknown instruction 'add.q32'"));
    EXPECT_THAT(misuse_of([](auto& k) { k("add.s32", k.reg(Type::s32), 1); }),
                HasSubstr("'add.s32': takes 3 operands, not 2"));
    EXPECT_THAT(misuse_of([](auto& k) { k("add.s32", k.reg(Type::f32), 1, 2); }), HasSubstr("operand 1: expected s32"));
    EXPECT_THAT(misuse_of([](auto& k) { k.when(k.reg(Type::u32))("ret"); }),
                HasSubstr("the guard must be a predicate"));
    EXPECT_THAT(misuse_of([](auto& k) { k("bra", k.label()); }), HasSubstr("'$L0': the label was never placed"));
    EXPECT_THAT(misuse_of([](auto& k) {
                    const Label l = k.label();
                    k.place(l);
                    k.place(l);
                }),
                HasSubstr("a label must be placed once"));
    EXPECT_THAT(misuse_of([](auto& k) {
                    k.param(Type::u32, "a");
                    k.shared("a", Bytes{4});
                }),
                HasSubstr("'a': the name is empty or taken"));
    EXPECT_THAT(misuse_of([](auto& k) { k.clock_after(k.reg(Type::pred)); }), HasSubstr("16, 32 or 64 bits"));
}

}  // namespace
}  // namespace gputomo::ptx
