#include "ptx/parser.hpp"

#include "ptx/instructions.hpp"
#include "ptx/printer.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <variant>

namespace gputomo::ptx {
namespace {

const std::string kHeader = ".version 7.0\n.target sm_80\n.address_size 64\n";

std::string read_data(const std::string& name) {
    std::ifstream file(std::string(GPUTOMO_SOURCE_DIR) + "/tests/data/ptx/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// A kernel with registers of every type and this body, which starts on line 15.
std::string kernel_text(const std::string& body) {
    return kHeader +
           ".global .align 4 .b8 table[64];\n"
           ".visible .entry k(.param .u64 p0, .param .u32 p1)\n"
           "{\n"
           ".reg .pred %p<4>;\n"
           ".reg .b16 %rs<4>;\n"
           ".reg .b32 %r<8>;\n"
           ".reg .b64 %rd<8>;\n"
           ".reg .f32 %f<8>;\n"
           ".reg .f64 %fd<4>;\n"
           ".shared .align 4 .b8 buffer[128];\n"
           "T:\n" +
           body + "\n}\n";
}

Kernel parse_body(const std::string& body) { return parse(kernel_text(body)).kernels.at(0); }

std::string error_of(const std::string& text) {
    try {
        static_cast<void>(parse(text, "x.ptx"));
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

class CompiledByNvcc : public testing::TestWithParam<const char*> {};

TEST_P(CompiledByNvcc, SurvivesTheRoundTrip) {
    const std::string name = GetParam();
    const Module first = parse(read_data(name + ".ptx"), name);
    ASSERT_EQ(first.kernels.size(), 1u);
    EXPECT_EQ(first.kernels[0].name, name);
    EXPECT_GT(first.kernels[0].body.size(), 10u);
    const std::string text = to_text(first);
    const Module second = parse(text, "printed");
    EXPECT_TRUE(equivalent(first, second)) << text;
    EXPECT_EQ(to_text(second), text);
}

INSTANTIATE_TEST_SUITE_P(Files, CompiledByNvcc,
                         testing::Values("vector_add", "reduction", "matrix_multiply", "option_price", "histogram",
                                         "switch_table", "local_and_texture"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Parser, ReadsHeaderAndParameters) {
    const Module module = parse(
        ".version 8.3\n.target sm_90a, debug\n.address_size 64\n"
        ".visible .entry f(.param .align 8 .b8 s[24], .param .u64 .ptr .global .align 4 q, .param .f32 x)\n"
        ".maxntid 32, 4, 1\n.minnctapersm 2\n.pragma \"nounroll\";\n{ ret; }\n");
    EXPECT_EQ(module.version_major, 8);
    EXPECT_EQ(module.version_minor, 3);
    EXPECT_EQ(module.target_sm, 90);
    const Kernel& kernel = module.kernels.at(0);
    ASSERT_EQ(kernel.parameters.size(), 3u);
    EXPECT_EQ(kernel.parameters[0].size, Bytes{24});
    EXPECT_EQ(kernel.parameters[0].alignment, Bytes{8});
    EXPECT_EQ(kernel.parameters[1].name, "q");
    EXPECT_EQ(kernel.parameters[1].alignment, Bytes{8});
    EXPECT_EQ(kernel.parameters[2].type, Type::f32);
    EXPECT_EQ(kernel.max_threads, 128);
    EXPECT_THAT(kernel.pragmas, testing::ElementsAre("nounroll"));
}

TEST(Parser, ReadsInitialValues) {
    const Module module = parse(kHeader +
                                ".const .align 4 .b32 a[2][2] = {{1, -1}, {0x10, 017}};\n"
                                ".global .align 8 .f64 d = 0d3FF0000000000000;\n"
                                ".const .f32 f[3] = {0f3F800000, 1.5};\n"
                                ".global .b8 text[] = {104, 105};\n"
                                ".extern .shared .align 16 .b8 dynamic[];\n");
    ASSERT_EQ(module.variables.size(), 5u);
    EXPECT_THAT(module.variables[0].initial,
                testing::ElementsAre(1, 0, 0, 0, 255, 255, 255, 255, 16, 0, 0, 0, 15, 0, 0, 0));
    EXPECT_THAT(module.variables[1].initial, testing::ElementsAre(0, 0, 0, 0, 0, 0, 0xf0, 0x3f));
    EXPECT_THAT(module.variables[2].initial, testing::ElementsAre(0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0));
    EXPECT_EQ(module.variables[3].size, Bytes{2});
    EXPECT_TRUE(module.variables[4].is_extern);
}

TEST(Parser, GivesOperandsInTheOrderOfPtx) {
    const Kernel k = parse_body(
        "@!%p1 ld.global.v2.f32 {%f1, _}, [%rd1+-8];\nsetp.lt.and.s32 %p2|%p3, %r1, -5, !%p0;\nst.shared.u32 "
        "[buffer+4], %r2;");
    const Instruction& load = k.body.at(0);
    EXPECT_EQ(load.opcode, Opcode::ld);
    EXPECT_EQ(load.space, Space::global);
    EXPECT_EQ(load.vector_width, 2);
    EXPECT_TRUE(load.guard->negated);
    EXPECT_EQ(k.registers[load.guard->predicate.index].name, "%p1");
    EXPECT_EQ(std::get<VectorRef>(load.destinations.at(0).value).elements.size(), 2u);
    const auto& address = std::get<AddressRef>(load.sources.at(0).value);
    EXPECT_EQ(address.offset, -8);
    EXPECT_EQ(k.registers[std::get<Register>(address.base).index].name, "%rd1");
    const Instruction& compare = k.body.at(1);
    EXPECT_THAT(compare.modifiers, testing::ElementsAre("lt", "and"));
    EXPECT_EQ(compare.destinations.size(), 2u);
    EXPECT_EQ(static_cast<std::int64_t>(std::get<Immediate>(compare.sources.at(1).value).bits), -5);
    EXPECT_TRUE(std::get<PredicateRef>(compare.sources.at(2).value).negated);
    EXPECT_EQ(compare.line, 16);
    const Instruction& store = k.body.at(2);
    EXPECT_TRUE(store.destinations.empty());
    EXPECT_EQ(std::get<SymbolRef>(std::get<AddressRef>(store.sources.at(0).value).base).name, "buffer");
}

TEST(Parser, TextureFetchHasAddressAndCoordinates) {
    const Kernel k = parse_body("tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1}];");
    EXPECT_EQ(k.body.at(0).type, Type::f32);
    EXPECT_EQ(k.body.at(0).source_type, Type::s32);
    ASSERT_EQ(k.body.at(0).sources.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<AddressRef>(k.body[0].sources[0].value));
    EXPECT_TRUE(std::holds_alternative<VectorRef>(k.body[0].sources[1].value));
}

TEST(Parser, KeepsFloatBits) {
    const Kernel k = parse_body("mov.f32 %f1, 0f7F800001;\nadd.f32 %f1, %f1, 0.1;\nmov.b64 %fd1, 0dFFF0000000000001;");
    EXPECT_EQ(to_text(k, k.body[0]), "mov.f32 %f1, 0f7F800001;");
    EXPECT_EQ(to_text(k, k.body[1]), "add.f32 %f1, %f1, 0f3DCCCCCD;");
    EXPECT_EQ(to_text(k, k.body[2]), "mov.b64 %fd1, 0dFFF0000000000001;");
}

TEST(Parser, NamesOfNestedScopesDoNotClash) {
    const Kernel k = parse_body(
        "{ .reg .b32 t; L: mov.u32 t, 1; bra L; }\n"
        "{ .reg .b32 t; bra L; mov.u32 t, 2; L: bra T; }");
    EXPECT_EQ(to_text(k, k.body[0]), "mov.u32 t, 1;");
    EXPECT_EQ(to_text(k, k.body[3]), "mov.u32 t$1, 2;");
    EXPECT_EQ(k.labels.at(std::get<SymbolRef>(k.body[1].sources[0].value).name), 0u);
    EXPECT_EQ(k.labels.at(std::get<SymbolRef>(k.body[2].sources[0].value).name), 4u);
}

TEST(Parser, ReadsBranchTables) {
    const Kernel k = parse_body("ts: .branchtargets A, T;\nbrx.idx %r1, ts;\nA: ret;");
    EXPECT_THAT(k.branch_targets.at("ts"), testing::ElementsAre("A", "T"));
    EXPECT_EQ(k.labels.at("A"), 1u);
}

TEST(Parser, SeesFunctionsAndCallsWithoutExecutingThem) {
    const Module module = parse(kHeader +
                                ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
                                ".visible .entry k() { .reg .b32 %r<2>; { .param .b64 p0; .param .b32 ret0;\n"
                                "call.uni (ret0), vprintf, (p0, p0);\nld.param.b32 %r1, [ret0]; } ret; }\n");
    EXPECT_THAT(module.functions, testing::ElementsAre("vprintf"));
    EXPECT_EQ(to_text(module.kernels[0], module.kernels[0].body[0]), "call.uni (ret0), vprintf, (p0, p0);");
    EXPECT_TRUE(equivalent(module, parse(to_text(module))));
}

TEST(ParserErrors, QuoteLineAndText) {
    EXPECT_THAT(error_of(kernel_text("foo.bar %r1;")),
                testing::StartsWith("x.ptx:15: unknown instruction 'foo.bar'; expected "));
    EXPECT_THAT(error_of(kernel_text("  foo.bar %r1; // why")), testing::EndsWith("\n    foo.bar %r1; // why"));
}

struct Broken {
    const char* body;
    const char* message;
};
class BrokenBody : public testing::TestWithParam<Broken> {};
TEST_P(BrokenBody, NamesTheError) {
    EXPECT_THAT(error_of(kernel_text(GetParam().body)), testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenBody,
    testing::Values(Broken{"add.f33 %f1, %f1, %f1;",
                           "unknown instruction 'add.f33'; expected 'add T' with T one of u16"},
                    Broken{"add.s32 %r1, %r2;", "x.ptx:15: 'add.s32': takes 3 operands, not 2"},
                    Broken{"add.s32 %r1, %f2, %r2;", "operand 2: expected s32, not %f2 of type f32"},
                    Broken{"add.s32 %r1, %r9, %r2;", "unknown register '%r9'"},
                    Broken{"add.f32 %f1, %f1, 1;", "expected a floating-point number for f32"},
                    Broken{"mov.u32 %r1, %nosuch.x;", "unknown register '%nosuch.x'"},
                    Broken{"mov.u64 %rd1, nosuch;", "unknown name 'nosuch'"},
                    Broken{"bra nowhere;", "unknown label 'nowhere'; expected a label of kernel 'k'"},
                    Broken{"brx.idx %r1, T;", "unknown label 'T'; expected a .branchtargets list"},
                    Broken{"T: ret;", "label 'T' is placed twice"},
                    Broken{"add.s32 %r1, %r1, 1", "unexpected '}' after 'add.s32'; expected ';'"},
                    Broken{"@%r1 ret;", "the guard is no predicate"},
                    Broken{".reg .b32 %r<3>;", "register '%r0' is declared twice"},
                    Broken{".reg .b32 %z<99999999999>;", "expected the number of registers, at most 1048576"},
                    Broken{"ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", "expected a vector of 2 elements"},
                    Broken{"ld.global.u32 %r1, %rd1;", "expected an address in brackets"},
                    Broken{"mov.b64 %rd1, {%r1, %rs1};", "expected a vector that makes up 8 bytes"},
                    Broken{"mov.u32 %r1, 0x1ffffffffffffffff;", "expected an operand"},
                    Broken{"mov.u32 %r1, \"s\";", "expected an operand"},
                    Broken{"{ ret;", "the text ends inside kernel 'k'"}));

TEST(ParserErrors, RequireAHeader) {
    EXPECT_THAT(error_of(""), testing::HasSubstr("x.ptx:1: no .version directive"));
    EXPECT_THAT(error_of(".version 7.0\n.target compute_80\n"),
                testing::HasSubstr("x.ptx:2: unknown target 'compute_80'; expected sm_XX"));
    EXPECT_THAT(error_of(kHeader + ".global .texref t;"), testing::HasSubstr("x.ptx:4: unknown type '.texref'"));
    EXPECT_THAT(error_of(kHeader + ".global .b8 a[99999999999999];"), testing::HasSubstr("x.ptx:4: "));
    EXPECT_THAT(error_of(kHeader + "/* open"), testing::HasSubstr("a comment does not end"));
}

Module keep_unknown(const std::string& text) { return parse(text, "x.ptx", Unknown::is_kept); }

TEST(UnknownInstructions, AreKeptWithTheirTextAndTheirGuard) {
    const Kernel kernel =
        keep_unknown(kernel_text("@!%p1 foo.bar.u32 {%r1, %r2},\n [%rd1 + 4], nosuch;\nadd.s32 %r1, %r2, %r3;\nret;"))
            .kernels.at(0);
    ASSERT_EQ(kernel.body.size(), 3U);
    EXPECT_EQ(kernel.body[0].opcode, Opcode::unknown);
    EXPECT_THAT(kernel.body[0].modifiers, testing::ElementsAre("foo.bar.u32 {%r1, %r2},  [%rd1 + 4], nosuch"));
    EXPECT_THAT(kernel.body[0].refusal, testing::StartsWith("x.ptx:15: unknown instruction 'foo.bar.u32'"));
    ASSERT_TRUE(kernel.body[0].guard.has_value());
    EXPECT_TRUE(kernel.body[0].guard->negated);
    EXPECT_EQ(kernel.body[1].opcode, Opcode::add);
    EXPECT_EQ(to_text(kernel, kernel.body[0]), "@!%p1 foo.bar.u32 {%r1, %r2},  [%rd1 + 4], nosuch;");
    EXPECT_THAT(error_of(kernel_text("foo.bar %r1;")), testing::HasSubstr("unknown instruction")) << "unless asked for";
}

TEST(UnknownInstructions, EndWhereTheirTextEnds) {
    EXPECT_THAT(keep_unknown(kernel_text("foo.bar %r1\n")).kernels.at(0).refusal, testing::HasSubstr("no ';' ends it"));
    EXPECT_EQ(keep_unknown(kernel_text("foo {{a; b}, c};\nret;")).kernels.at(0).body.size(), 2U);
}

TEST(UnknownDeclarations, StopNeitherTheModuleNorOtherKernels) {
    const Module module =
        keep_unknown(kHeader +
                     ".extern .func __assertfail\n(\n.param .b64 a,\n.param .b32 b\n)\n.noreturn;\n"
                     ".global .texref t;\n.global .align 8 .u64 pointers[2] = {table, table};\n.alias f, g;\n"
                     ".visible .entry broken(.param .u64 p) { .reg .b4096 %r; ret; }\n"
                     ".visible .entry good(.param .u64 p) { .reg .b64 %rd<2>; mov.u64 %rd1, pointers; ret; }\n");
    ASSERT_EQ(module.kernels.size(), 2U);
    EXPECT_THAT(module.kernels[0].refusal, testing::HasSubstr("unknown register type '.b4096'"));
    EXPECT_TRUE(module.kernels[0].body.empty());
    EXPECT_EQ(module.kernels[1].refusal, "");
    ASSERT_EQ(module.kernels[1].body.size(), 2U);
    EXPECT_THAT(module.kernels[1].body[0].refusal, testing::HasSubstr("unknown name 'pointers'"));
    EXPECT_THAT(module.functions, testing::ElementsAre("__assertfail"));
    EXPECT_THROW(static_cast<void>(keep_unknown(kHeader + "nothing")), InputError) << "no directive";
}

TEST(Triton, VectorsOfOneElementAreThatElement) {
    const Kernel kernel = parse_body("ld.global.b32 { %r1 }, [ %rd1 + 0 ];\nst.global.b32 [ %rd1 + 0 ], { %r1 };");
    EXPECT_TRUE(std::holds_alternative<Register>(kernel.body[0].destinations.at(0).value));
    EXPECT_TRUE(std::holds_alternative<Register>(kernel.body[1].sources.at(1).value));
}

TEST(Triton, QualifiersOfAtomicsComeInAnySequence) {
    const Kernel kernel = parse_body(
        "atom.global.gpu.acq_rel.add.f32 %f1, [%rd1], %f2;\natom.acq_rel.gpu.global.add.f32 %f1, [%rd1], %f2;");
    EXPECT_TRUE(equivalent(kernel.body[0], kernel.body[1]));
    EXPECT_EQ(mnemonic_of(kernel.body[0]), "atom.acq_rel.gpu.global.add.f32");
}

/// tests/data/ptx/triton_NAME.ptx are kernels of our own that Triton 3.6 compiled for sm_90, without a GPU.
TEST(Triton, ModulesAreRead) {
    for (const std::string name : {"scatter", "printing"}) {
        const Module module = keep_unknown(read_data("triton_" + name + ".ptx"));
        ASSERT_EQ(module.kernels.size(), 1U);
        EXPECT_EQ(module.kernels[0].name, name);
        EXPECT_EQ(module.target_suffix, "a");
        EXPECT_GT(module.kernels[0].body.size(), 30U);
        for (const Instruction& instruction : module.kernels[0].body)
            EXPECT_NE(instruction.opcode, Opcode::unknown) << instruction.refusal;
    }
}

}  // namespace
}  // namespace gputomo::ptx
