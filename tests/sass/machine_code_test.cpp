#include "cubin_files.hpp"

#include "sass/machine_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string_view>

namespace gputomo::sass {
namespace {

using cubin_files::read_cubin;
using ::testing::HasSubstr;

KernelCode kernel(const std::string& name, int sm) {
    const auto bytes = read_cubin(name + ".sm_" + std::to_string(sm));
    return kernel_code(Cubin(bytes), name);
}

const MachineInstruction& first(const KernelCode& code, std::string_view name) {
    for (const auto& instruction : code.instructions())
        if (instruction.is(name)) return instruction;
    throw std::runtime_error(std::string(name) + " isn't there");
}

TEST(MachineCodeTest, OpcodesHaveTheirNames) {
    for (const int sm : {75, 90, 120}) {
        const auto code = kernel("opcodes", sm);
        const auto counts = code.counts(code.all());
        for (const auto* name :
             {"FADD",    "FMUL",  "FFMA", "MUFU", "DADD", "DMUL", "DFMA",   "LOP3",  "SHF",   "POPC", "PRMT",
              "I2F.F64", "HADD2", "STS",  "LDS",  "BAR",  "VOTE", "MEMBAR", "ATOMG", "ISETP", "EXIT", "S2R"})
            EXPECT_EQ(counts.count(name), 1U) << name << " for sm_" << sm;
        for (const auto* name :
             {"FADD", "FMUL", "FFMA", "MUFU", "DADD", "DMUL", "DFMA", "BAR", "ATOMG", "LDS", "STS", "EXIT"})
            EXPECT_EQ(counts.at(name), 1) << name << " for sm_" << sm;
        EXPECT_EQ(counts.at("LDG"), 7) << sm;
        for (const auto& [name, count] : counts) EXPECT_FALSE(name.starts_with("0x")) << name << " for sm_" << sm;
    }
}

TEST(MachineCodeTest, UnknownOpcodesAreShownAsNumbers) {
    const MachineInstruction unknown{0xfff, 0, {}};
    EXPECT_EQ(unknown.name(), "0xfff");
    EXPECT_FALSE(unknown.slow());
    EXPECT_EQ(unknown.access_bytes(), 0);
    EXPECT_EQ(unknown.special_register(), std::nullopt);
}

TEST(MachineCodeTest, RecognisesClockReads) {
    for (const int sm : {75, 90, 120}) {
        const auto code = kernel("opcodes", sm);
        EXPECT_EQ(first(code, "S2R").special_register(), 0x43) << "%smid";
        EXPECT_FALSE(first(code, "S2R").reads_clock());
        EXPECT_TRUE(first(code, "CS2R").reads_clock());
        EXPECT_EQ(first(code, "CS2R").text(), "CS2R SR_CLOCKLO");
        ASSERT_EQ(code.between_clock_reads().size(), 1U);
        EXPECT_EQ(code.counts(code.between_clock_reads()[0]).at("FADD"), 1);
    }
}

TEST(MachineCodeTest, RecognisesClockReadsIntoUniformRegisters) {
    const auto code = kernel("clock_readings", 120);
    EXPECT_EQ(code.counts(code.all()).count("CS2UR"), 1U);
    EXPECT_TRUE(first(code, "CS2UR").reads_clock());
    EXPECT_EQ(code.between_clock_reads().size(), 31U);
    const auto hopper = kernel("clock_readings", 90);
    EXPECT_EQ(hopper.between_clock_reads().size(), 31U);
    EXPECT_TRUE(first(hopper, "S2UR").reads_clock());
}

TEST(MachineCodeTest, AccessesHaveTheirWidth) {
    for (const int sm : {75, 90, 120}) {
        const auto code = kernel("opcodes", sm);
        EXPECT_EQ(first(code, "STS").access_bytes(), 16);
        EXPECT_EQ(first(code, "LDS").access_bytes(), 8);
        EXPECT_EQ(first(code, "LDG").access_bytes(), 4);
        EXPECT_EQ(first(code, "STS").text(), "STS.128");
        EXPECT_EQ(first(code, "FADD").access_bytes(), 0);
    }
}

TEST(MachineCodeTest, ReadsTheOperandsOfAMultiplyAdd) {
    using Operands = std::vector<RegisterOperand>;
    EXPECT_EQ(first(kernel("opcodes", 90), "FFMA").three_operands(),
              (Operands{{0, 7}, {1, 5}, {2, 0}}));  // FFMA R0, R7, R5, R0
    const MachineInstruction same_twice{0x0000'0005'05ff'7223, 0xff, {}};
    EXPECT_EQ(same_twice.three_operands(), (Operands{{0, 5}, {1, 5}}));
    const MachineInstruction marked{
        0x0000'002a'0912'7223, 0x0c00'0000'0000'0012, {}};  // FFMA R18, R9.reuse, R42.reuse, R18
    EXPECT_EQ(marked.three_operands(), (Operands{{0, 9, true}, {1, 42, true}, {2, 18}}));
    const MachineInstruction with_literal{0x3f80'0000'0507'7423, 0x02, {}};
    EXPECT_TRUE(with_literal.three_operands().empty());
}

TEST(MachineCodeTest, InstructionsThatWaitForMemoryOrSlowUnitsAreSlow) {
    const auto code = kernel("opcodes", 90);
    for (const auto* name : {"LDG", "STS", "MUFU", "DADD", "BAR", "ATOMG", "POPC"})
        EXPECT_TRUE(first(code, name).slow()) << name;
    for (const auto* name : {"FADD", "IMAD", "ISETP", "BRA", "LDC", "S2R", "NOP"})
        EXPECT_FALSE(first(code, name).slow()) << name;
}

TEST(MachineCodeTest, BackwardBranchMakesALoop) {
    for (const int sm : {75, 90, 120}) {
        const auto code = kernel("opcodes", sm);
        const auto loops = code.loops();
        ASSERT_EQ(loops.size(), 1U) << sm;
        const auto body = code.counts(loops[0]);
        EXPECT_EQ(body.at("LDG"), 1);
        EXPECT_EQ(body.at("BRA"), 1);
        EXPECT_EQ(code.instructions()[loops[0].last - 1].guard(), "@P0 ");
    }
    EXPECT_TRUE(kernel("folded", 90).loops().empty());
}

TEST(MachineCodeTest, ListingsShowOffsetsNamesAndTargets) {
    const auto code = kernel("opcodes", 90);
    const auto listing = code.listing(code.all());
    EXPECT_THAT(listing, HasSubstr("  0010  S2R SR_VIRTUALSMID             0000000000057919 "));
    EXPECT_THAT(listing, HasSubstr("  03c0  @P0 BRA 0x390"));
    EXPECT_THAT(listing, HasSubstr("  0410  NOP (x 15)"));
    EXPECT_EQ(code.listing({0, 0}), "");
}

TEST(MachineCodeTest, CountsNopsBetweenDoublePrecisionOperations) {
    const auto code = kernel("chain_add_f64_ilp1", 120);
    const auto sections = code.between_clock_reads();
    ASSERT_EQ(sections.size(), 3U);
    EXPECT_EQ(code.counts(sections[0]).at("DADD"), 128);
    EXPECT_EQ(code.counts(sections[2]).at("DADD"), 256);
    EXPECT_GT(code.counts(sections[0]).at("NOP"), 4 * 120);
}

}  // namespace
}  // namespace gputomo::sass
