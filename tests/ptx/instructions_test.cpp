#include "ptx/instructions.hpp"

#include "ptx/names.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <string_view>

namespace gputomo::ptx {
namespace {

std::vector<std::string> words(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto end = std::min(text.find(separator), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

/// A mnemonic of the row with the first choice of each suffix; optional suffixes only if `with_options`.
std::string example(const Form& form, const std::string& type, const std::string& source_type, bool with_options) {
    std::string mnemonic{name_of(form.opcode)};
    for (std::string slot : words(form.suffixes, ' ')) {
        const bool optional = slot.ends_with('?');
        if (optional && !with_options) continue;
        if (optional) slot.pop_back();
        if (slot == "T")
            slot = type;
        else if (slot == "S")
            slot = source_type;
        else if (slot == "SP")
            slot = "shared";
        else if (slot == "V")
            slot = "v2";
        else
            slot = words(slot, '|').front();
        mnemonic += "." + slot;
    }
    return mnemonic;
}

TEST(InstructionTable, EveryRowFindsItselfAndPrintsAsItWasRead) {
    int checked = 0;
    for (const Form& form : instruction_table())
        for (const std::string& type : form.types.empty() ? std::vector<std::string>{""} : words(form.types, ' '))
            for (const std::string& source :
                 form.source_types.empty() ? std::vector<std::string>{""} : words(form.source_types, ' '))
                for (const bool with_options : {false, true}) {
                    const std::string mnemonic = example(form, type, source, with_options);
                    const auto found = look_up(mnemonic);
                    ASSERT_TRUE(found) << mnemonic;
                    EXPECT_EQ(mnemonic_of(found->instruction), mnemonic);
                    ++checked;
                }
    EXPECT_GT(checked, 1000);
}

TEST(InstructionTable, TypesAndOperandsAreWellFormed) {
    for (const Form& form : instruction_table()) {
        EXPECT_FALSE(name_of(form.opcode).empty());
        EXPECT_TRUE(form.section.starts_with("9.7.")) << name_of(form.opcode);
        for (const auto& type : words(form.types, ' ')) EXPECT_TRUE(type_named(type)) << type;
        for (const auto& type : words(form.source_types, ' ')) EXPECT_TRUE(type_named(type)) << type;
        for (const OperandRule& rule : operand_rules(form)) {
            static const std::vector<std::string_view> kKinds = {"T", "S", "W", "P", "[]", "L",
                                                                 "V", "M", "C", "v", "A",  "call"};
            EXPECT_TRUE(std::ranges::count(kKinds, rule.type) == 1 || type_named(rule.type))
                << name_of(form.opcode) << " " << rule.type;
        }
    }
}

TEST(InstructionTable, HasEveryOpcode) {
    for (int i = 0; i <= static_cast<int>(Opcode::pmevent); ++i) {
        const auto opcode = static_cast<Opcode>(i);
        EXPECT_FALSE(forms_of(opcode).empty()) << name_of(opcode);
        EXPECT_EQ(opcode_named(name_of(opcode)), opcode);
    }
}

TEST(InstructionTable, TakesTypesSpaceAndWidthOutOfTheModifiers) {
    const auto load = look_up("ld.volatile.global.v4.u32");
    ASSERT_TRUE(load);
    EXPECT_EQ(load->instruction.space, Space::global);
    EXPECT_EQ(load->instruction.vector_width, 4);
    EXPECT_EQ(load->instruction.type, Type::u32);
    EXPECT_THAT(load->instruction.modifiers, testing::ElementsAre("volatile"));
    const auto convert = look_up("cvt.rn.ftz.f32.s64");
    ASSERT_TRUE(convert);
    EXPECT_EQ(convert->instruction.source_type, Type::s64);
    EXPECT_EQ(look_up("ld.u32")->instruction.space, Space::generic);
    EXPECT_EQ(look_up("add.s32")->instruction.space, Space::none);
}

TEST(InstructionTable, RefusesWrongOrderAndUnknownSuffixes) {
    for (const char* wrong : {"", ".", "add", "add.", "add.s32.sat", "mul.s32", "mul.wide.s64", "fma.f32", "ld.reg.u32",
                              "cvt.u32", "bar", "add.s32.s32", "nosuch.u32"})
        EXPECT_FALSE(look_up(wrong)) << wrong;
}

/// Golden lines, one for each kind of operands, that are parsed and printed unchanged.
class GoldenLine : public testing::TestWithParam<const char*> {};
TEST_P(GoldenLine, PrintsAsItWasRead) {
    const std::string text =
        std::string(
            ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .b32 g[8];\n.entry k(.param .u64 a) {\n"
            ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .f64 %g<4>;\n"
            "L:\n") +
        GetParam() + "\n}";
    const Module module = parse(text);
    EXPECT_EQ(to_text(module.kernels[0], module.kernels[0].body.at(0)), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Lines, GoldenLine,
    testing::Values(
        "add.s32 %r1, %r2, -1;", "add.cc.u32 %r1, %r2, %r3;", "addc.u32 %r1, %r2, %r3;",
        "add.rn.ftz.f32 %f1, %f2, 0f3F800000;", "mul.wide.u32 %d1, %r1, 4;", "mul.hi.s32 %r1, %r2, %r3;",
        "mul24.lo.s32 %r1, %r2, %r3;", "mad.lo.s32 %r1, %r2, %r3, %r4;", "mad.wide.s32 %d1, %r1, 8, %d2;",
        "sad.u32 %r1, %r2, %r3, %r4;", "div.rn.f32 %f1, %f2, %f3;", "div.approx.ftz.f32 %f1, %f2, %f3;",
        "div.full.f32 %f1, %f2, %f3;", "fma.rn.f64 %g1, %g2, %g3, 0dBFF0000000000000;", "rsqrt.approx.f32 %f1, %f2;",
        "sqrt.rn.f64 %g1, %g2;", "lg2.approx.ftz.f32 %f1, %f2;", "ex2.approx.f32 %f1, %f2;", "sin.approx.f32 %f1, %f2;",
        "and.pred %p1, %p2, !%p3;", "not.pred %p1, %p2;", "xor.b32 %r1, %r2, -1;", "shl.b64 %d1, %d2, 3;",
        "shr.s16 %h1, %h2, 4;", "shf.l.wrap.b32 %r1, %r2, %r3, %r4;", "lop3.b32 %r1, %r2, %r3, %r4, 150;",
        "prmt.b32 %r1, %r2, %r3, 12816;", "bfe.u32 %r1, %r2, 3, 5;", "bfi.b32 %r1, %r2, %r3, 0, 8;",
        "popc.b64 %r1, %d1;", "bfind.shiftamt.u32 %r1, %r2;", "dp4a.u32.s32 %r1, %r2, %r3, %r4;",
        "setp.ltu.or.ftz.f32 %p1|%p2, %f1, %f2, %p3;", "setp.eq.b32 %p1, %f1, 7;", "set.gt.u32.f32 %r1, %f1, %f2;",
        "selp.f32 %f1, %f2, 0f00000000, %p1;", "slct.u32.s32 %r1, %r2, %r3, %r4;", "mov.u32 %r1, %tid.x;",
        "mov.u64 %d1, %clock64;", "mov.u64 %d1, g;", "mov.b64 {%r1, %r2}, %d1;", "mov.b64 %d1, {%r1, %r2};",
        "mov.b32 %r1, {%h1, %h2};", "mov.pred %p1, %p2;", "cvt.rzi.s32.f32 %r1, %f1;", "cvt.u16.u32 %h1, %r1;",
        "cvt.sat.f32.f32 %f1, %f2;", "cvt.rn.f16x2.f32 %r1, %f1, %f2;", "cvta.to.global.u64 %d1, %d2;",
        "cvta.shared.u64 %d1, %d2;", "isspacep.shared %p1, %d1;", "ld.param.u64 %d1, [a];",
        "ld.global.nc.L1::no_allocate.v4.f32 {%f0, %f1, %f2, %f3}, [%d1+16];", "ld.shared.u8 %h1, [%r1];",
        "ld.relaxed.gpu.global.u32 %r1, [%d1];", "ld.global.f32 %f1, [g+4];", "ld.local.u32 %r1, [64];",
        "st.global.cs.v2.u32 [%d1+-8], {%r1, %r2};", "st.local.u8 [%d1], %r1;", "prefetch.global.L2 [%d1];",
        "atom.global.add.u32 %r1, [%d1], 1;", "atom.shared.cas.b32 %r1, [%r2], %r3, %r4;",
        "atom.acq_rel.gpu.global.exch.b64 %d1, [%d2], %d3;", "red.global.add.f32 [%d1], %f1;",
        "tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r5}];",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];", "bra.uni L;", "@!%p1 bra L;", "ret;", "exit;",
        "trap;", "bar.sync 0;", "bar.sync 1, 64;", "bar.arrive 1, 64;", "bar.red.popc.u32 %r1, 0, %p1;",
        "bar.red.and.pred %p1, 0, 64, !%p2;", "bar.warp.sync -1;", "barrier.sync.aligned 0;", "membar.gl;",
        "fence.acq_rel.gpu;", "vote.sync.ballot.b32 %r1, %p1, -1;", "vote.sync.any.pred %p1, !%p2, -1;",
        "match.any.sync.b32 %r1, %r2, -1;", "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;",
        "shfl.sync.down.b32 %f1, %f2, 1, 31, -1;", "redux.sync.add.s32 %r1, %r2, -1;", "activemask.b32 %r1;",
        "nanosleep.u32 100;", "elect.sync _|%p1, -1;", "cp.async.ca.shared.global [%r1], [%d1], 16;",
        "cp.async.wait_group 0;", "mbarrier.init.shared.b64 [%r1], 32;",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3];",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {%f4, %f5, %f6, "
        "%f7};",
        "pmevent 0;"));

}  // namespace
}  // namespace gputomo::ptx
