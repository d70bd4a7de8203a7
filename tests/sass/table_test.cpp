// What the instruction table says besides encodings: names, units, costs, and what each instruction reads and writes.
#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sass/special_registers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace gputomo::sass {
namespace {

using ::testing::ElementsAre;

const Facts& facts(std::string_view operation) { return facts_of(*row_named(operation)); }

TEST(Table, NamesEveryOperation) {
    for (int i = 0; i < static_cast<int>(Operation::count); ++i) {
        const auto name = name_of(static_cast<Operation>(i));
        ASSERT_NE(row_named(name), nullptr) << name << " has no row";
        EXPECT_EQ(row_named(name)->operation, static_cast<Operation>(i));
    }
    EXPECT_EQ(row_named("XMAD"), nullptr) << "an opcode of Maxwell";
}

TEST(Table, FindsRowsByTheLowerNineBitsOfAnOpcode) {
    EXPECT_EQ(row_of(0x021)->operation, Operation::FADD);
    EXPECT_EQ(row_of(0x221)->operation, Operation::FADD) << "with a register as second operand";
    EXPECT_EQ(row_of(0x1fe), nullptr);
    EXPECT_EQ(row_of(0x1ab)->operation, Operation::ERRBAR) << "the first of two operations with this opcode";
    EXPECT_EQ(row_of(0x14a)->operation, Operation::JMP) << "known by name alone";
    EXPECT_TRUE(forms_of(0x14a).empty()) << "and not decoded";
}

TEST(Table, OpcodesOfOneOperationMayDiffer) {
    const auto of = [](std::uint16_t opcode) -> const Facts& { return facts_of(*row_of(opcode)); };
    EXPECT_EQ(of(0x024).name, "");
    EXPECT_EQ(of(0x024).timed_as, "mad.lo.u32");
    EXPECT_EQ(of(0x025).name, "IMAD.WIDE");
    EXPECT_EQ(of(0x025).timed_as, "mul.hi.u32");
    EXPECT_TRUE(of(0x025).assumed);
    EXPECT_EQ(of(0x027).name, "IMAD.HI");
    EXPECT_FALSE(of(0x027).assumed);
    EXPECT_EQ(of(0x110).name, "F2F.F64");
    EXPECT_EQ(of(0x035).name, "HFMA2.MMA");
}

TEST(Table, RowsWithoutFactsHaveThoseBeforeThemWithTheSameOperation) {
    for (const Row& row : rows()) {
        const Facts& found = facts_of(row);
        EXPECT_NE(found.unit, Unit::as_before) << name_of(row.operation);
        EXPECT_TRUE(row.facts.unit == Unit::as_before || &found == &row.facts) << name_of(row.operation);
    }
    for (const Form& form : all_forms()) EXPECT_EQ(form.facts, &facts_of(*form.row));
    EXPECT_EQ(facts_of(*row_of(0x163)).what, Class::texture) << "TLD4";
    EXPECT_EQ(facts_of(*row_of(0x164)).what, Class::texture) << "a bindless TLD4, behind rows of other operations";
}

TEST(Table, SaysHowMemoryIsAccessed) {
    EXPECT_TRUE(facts("LDS").accesses_shared());
    EXPECT_TRUE(facts("STSM").accesses_shared());
    EXPECT_TRUE(facts("SYNCS").accesses_shared());
    EXPECT_FALSE(facts("LDG").accesses_shared());
    EXPECT_FALSE(facts("FADD").accesses_shared());
    EXPECT_EQ(facts("LD").space, MemorySpace::generic);
    EXPECT_EQ(facts("STL").space, MemorySpace::local);
    EXPECT_EQ(facts("STL").access, Access::store);
    EXPECT_EQ(facts("ATOMG").access, Access::atomic);
    EXPECT_EQ(facts("REDG").access, Access::reduction);
}

TEST(Table, SaysHowManyWordsOperandsTake) {
    EXPECT_THAT(facts("DFMA").words, ElementsAre(2, 2, 2, 2));
    EXPECT_EQ(facts("HMMA").words_of_source(0), 4U);
    EXPECT_EQ(facts("HMMA").words_of_source(1), 2U);
    EXPECT_EQ(facts("HMMA").words_of_source(7), 4U);
    EXPECT_EQ(facts_of(*row_of(0x025)).words_of_source(2), 2U) << "IMAD.WIDE adds 64 bits";
    EXPECT_EQ(facts("IMAD").words_of_source(2), 1U);
}

/// "2P+R" for two predicates and a register.
std::string results(std::uint16_t opcode) {
    const auto forms = forms_of(opcode);
    if (forms.empty()) return "no form";
    const Form& form = forms.front();
    return std::to_string(form.written_predicates) + "P" + (form.writes_value ? "+R" : "");
}

TEST(Table, TheNotationSaysWhatAnInstructionWrites) {
    EXPECT_EQ(results(0x221), "0P+R") << "FADD";
    EXPECT_EQ(results(0x210), "2P+R") << "IADD3 has two carries out";
    EXPECT_EQ(results(0x20c), "2P") << "ISETP";
    EXPECT_EQ(results(0x302), "1P") << "FCHK";
    EXPECT_EQ(results(0x212), "1P+R") << "LOP3";
    EXPECT_EQ(results(0x224), "0P+R") << "IMAD, whose predicates are carries in";
    EXPECT_EQ(results(0x225), "1P+R") << "IMAD.WIDE";
    EXPECT_EQ(results(0x986), "0P") << "STG";
    EXPECT_EQ(results(0x981), "1P+R") << "LDG";
    EXPECT_EQ(results(0x355), "0P+R") << "BMOV to a register";
    EXPECT_EQ(results(0x356), "0P") << "BMOV from a register";
    EXPECT_EQ(results(0xfae), "0P") << "LDGSTS reads the register at the place of results";
    EXPECT_TRUE(writes(Operation::BMOV));
    EXPECT_FALSE(writes(Operation::STG));
    EXPECT_FALSE(writes(Operation::BSSY));
    EXPECT_TRUE(writes(Operation::LDCU)) << "no encoding is known";
}

TEST(Table, UnitsHaveTheNamesOfPipelines) {
    EXPECT_EQ(name_of(Unit::integer), "int");
    EXPECT_EQ(name_of(Unit::exchange), "lanes");
    EXPECT_EQ(name_of(Unit::none), "");
    EXPECT_EQ(name_of(facts("HMMA").unit), "tensor");
}

TEST(SpecialRegisters, HaveNamesAndTwoOfThemCountCycles) {
    EXPECT_EQ(special_register_text(0x21), "SR_TID.X");
    EXPECT_EQ(special_register_text(0xfe), "");
    for (int number = 0; number < 256; ++number)
        EXPECT_EQ(counts_cycles(static_cast<std::uint8_t>(number)), number == 80 || number == 81) << number;
}

}  // namespace
}  // namespace gputomo::sass
