// Listings of cuobjdump and nvdisasm: functions, labels, guards, operands, and what is refused.
#include "predicting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::predict::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Listing, ReadsFunctionsAndAddressesOfCuobjdump) {
    const auto functions = parse_listing(text_of("sass/sum_sm_90.sass"));
    ASSERT_EQ(functions.size(), 2U);
    EXPECT_EQ(functions[0].name, "sum");
    EXPECT_EQ(functions[1].name, "nothing");
    ASSERT_EQ(functions[0].instructions.size(), 16U);
    const auto& load = functions[0].instructions[6];
    EXPECT_EQ(load.opcode, "LDG");
    EXPECT_THAT(load.modifiers, ElementsAre("E"));
    EXPECT_EQ(load.address, 0x60U);
    EXPECT_EQ(load.operands[1].reg, "R2");
    EXPECT_TRUE(load.operands[1].wide);
    EXPECT_THAT(load.operands[1].also, ElementsAre("UR4"));
    EXPECT_EQ(functions[0].instructions[3].guard, "P0");
    EXPECT_EQ(functions[0].instructions[9].operands[1].reg, "R6");
}

TEST(Listing, ReadsLabelsOfNvdisasm) {
    const auto functions = parse_listing(text_of("sass/loop_nvdisasm.sass"));
    const auto& tile = functions.back();
    EXPECT_EQ(tile.name, "tile");
    EXPECT_EQ(tile.labels.at(".L_x_0"), 4U);
    EXPECT_EQ(tile.labels.at(".L_x_3"), tile.instructions.size());
    const auto p = predicted(code_from_listing(functions, "tile", "f"), "gtx480",
                             {.path = {.trip_counts = {{".L_x_0", 100}}, .taken = {}}, .access = {}});
    EXPECT_EQ(p.executions.at(5), 100);
    EXPECT_EQ(p.executions.at(9), 1);
    EXPECT_EQ(p.executions.at(11), 0);  // padding behind the exit
}

TEST(Listing, BranchesByAddressMakeLoops) {
    const auto functions = parse_listing(text_of("sass/sum_sm_90.sass"));
    const auto p = predicted(code_from_listing(functions, "sum", "f"), "gtx980",
                             {.path = {.trip_counts = {{"0x60", 64}}, .taken = {}}, .access = {}});
    EXPECT_EQ(p.executions.at(6), 64);
    EXPECT_NEAR(p.latency, 64 * (368 + 6 + 13), 100);
    EXPECT_EQ(predicted(code_from_listing(functions, "nothing", "f"), "gtx980").executions, std::vector<double>{1});
}

std::vector<std::size_t> written(const std::string& line) {
    std::vector<std::size_t> counts;
    for (const auto& i : listed(line).instructions) counts.push_back(i.writes.size());
    return counts;
}

TEST(Listing, ResultsAreTheFirstOperands) {
    EXPECT_THAT(written("ISETP.GE.AND P0, P1, R0, R1, PT"), ElementsAre(2));
    EXPECT_THAT(written("LDG.E.128 R4, [R2.64]"), ElementsAre(4));
    EXPECT_THAT(written("IMAD.WIDE R2, R0, 0x4, R2"), ElementsAre(2));
    EXPECT_THAT(written("IADD3 R2, P0, R4, R5, RZ"), ElementsAre(2));
    EXPECT_THAT(written("SHFL.BFLY PT, R5, R4, 0x1, 0x1f"), ElementsAre(1));
    EXPECT_THAT(written("DADD R2, R4, R6"), ElementsAre(2));
    EXPECT_THAT(written("STG.E [R2.64], R6"), ElementsAre(0));
    EXPECT_THAT(written("BAR.SYNC 0x0"), ElementsAre(0));
    EXPECT_EQ(listed("DADD R2, R4, R6").instructions[0].reads.size(), 4U);
    EXPECT_EQ(listed("STG.E.64 desc[UR4][R2.64], R6").instructions[0].reads.size(), 5U);
}

TEST(Listing, AtomicsAccessMemoryUnderAllTheirNames) {
    const auto access = [](const std::string& line) { return listed(line).instructions[0].access; };
    for (const char* line : {"ATOMG.E.ADD.STRONG.GPU PT, R2, desc[UR4][R2.64], R5", "ATOM.E.ADD PT, R2, [R2.64], R5"}) {
        ASSERT_TRUE(access(line)) << line;
        EXPECT_EQ(access(line)->space, MemorySpace::global) << line;
        EXPECT_TRUE(access(line)->load) << line;
    }
    for (const char* line : {"REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5", "RED.E.ADD [R2.64], R5"}) {
        ASSERT_TRUE(access(line)) << line;
        EXPECT_FALSE(access(line)->load) << line << " returns nothing";
    }
    EXPECT_THAT(written("REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5"), ElementsAre(0));
}

TEST(Listing, RefusesInstructionsOfUnknownCost) {
    for (const char* line : {"HMMA.16816.F32 R4, R4, R8, R4", "LDSM.16.M88.4 R4, [R2]", "STSM.16.M88.4 [R2], R4",
                             "IGMMA.64x8x32.S8.S8 R24, gdesc[UR4], R24", "SURED.D.2D.ADD [R2], R4, UR4, 0x1",
                             "TLD4S R2, R4, R6, 0x1", "CAL 0x40", "BRXU UR4 -0x10"})
        EXPECT_THAT(message_of([&] { (void)listed(line); }), HasSubstr("its cost is unknown")) << line;
    EXPECT_NO_THROW((void)listed("POPC R2, R4"));
}

TEST(Listing, ReadsDualIssueMarksOfOldGpus) {
    EXPECT_EQ(listed("   {  FADD R1, R1, R2;\n      MOV R4, R5;  }\n EXIT;\n").instructions.size(), 3U);
}

TEST(Listing, ErrorsNameTheLine) {
    EXPECT_THAT(message_of([] { (void)parse_listing("MOV R1, R2\nhello world\n", "f.sass"); }),
                HasSubstr("f.sass:2: found 'hello'; expected an instruction of machine code"));
    EXPECT_THAT(message_of([] { (void)parse_listing("@X MOV R1, R2\n", "f.sass"); }),
                HasSubstr("f.sass:1: found the guard 'X'; expected a predicate register"));
    EXPECT_THAT(message_of([] { (void)parse_listing("a:\na:\n", "f.sass"); }), HasSubstr("label 'a' is placed twice"));
    EXPECT_THAT(message_of([] { (void)listed("HMMA.16816.F32 R4, R8, R10, R4\n"); }),
                HasSubstr("listing:1: 'HMMA' can't be predicted"));
    EXPECT_THAT(message_of([] { (void)listed("BRA `(.L_x_9)\n"); }),
                HasSubstr("found the target '.L_x_9'; expected a label"));
    EXPECT_THAT(message_of([] { (void)listed("/*0000*/ BRA 0x40 ;\n"); }),
                HasSubstr("found the target 0x40; expected the address of an instruction"));
    EXPECT_THAT(
        message_of([] { (void)code_from_listing(parse_listing(text_of("sass/sum_sm_90.sass")), "product", "f"); }),
        HasSubstr("no function 'product'; expected one of sum, nothing"));
    EXPECT_THAT(message_of([] { (void)code_from_listing(parse_listing(""), "k", "f"); }),
                HasSubstr("expected a listing with code"));
}

TEST(Listing, RefusesBranchesIntoTheMiddleOfALoop) {
    const auto code = listed("a:\nMOV R1, R2\nb:\nMOV R1, R2\n@P0 BRA `(a)\nMOV R1, R2\nBRA `(b)\nEXIT\n");
    EXPECT_THAT(message_of([&] {
                    (void)path_of(code, {.trip_counts = {{"a", 2}, {"b", 3}}, .taken = {}});
                }),
                HasSubstr("goes back to code that no loop starts with"));
}

}  // namespace
}  // namespace gputomo::predict::testing
