// Decoding, printing and encoding of machine instructions, against what nvdisasm prints (fixtures/sm_90.txt).
#include "sass/code.hpp"
#include "sass/form.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace gputomo::sass {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr int kSm = 90;

struct Fixture {
    std::uint64_t address = 0;
    Word word;
    std::string text;
};

std::vector<Fixture> fixtures(int sm = kSm) {
    std::ifstream file(GPUTOMO_SOURCE_DIR "/tests/sass/fixtures/sm_" + std::to_string(sm) + ".txt");
    std::vector<Fixture> found;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        Fixture fixture;
        words >> std::hex >> fixture.address >> fixture.word.high >> fixture.word.low;
        words.ignore();
        std::getline(words, fixture.text);
        found.push_back(fixture);
    }
    return found;
}

/// @P0 FADD.FTZ R1, R2, -R3.reuse with stall 4, write barrier 2 and a wait for scoreboards 0 and 5.
constexpr Word kAdd{0x8000000302010221, 0x1000000000010000 | 4ULL << 41 | 2ULL << 46 | 7ULL << 49 | 0x21ULL << 52};

std::vector<std::byte> bytes_of(const std::vector<Word>& words) {
    std::vector<std::byte> bytes;
    for (const Word& word : words)
        for (const std::uint64_t half : {word.low, word.high})
            for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(half >> (8 * i)));
    return bytes;
}

TEST(Decode, PrintsWhatNvdisasmPrints) {
    const auto all = fixtures();
    ASSERT_GT(all.size(), 2000U);
    for (const auto& fixture : all)
        EXPECT_EQ(text_of(decode(fixture.word, kSm, fixture.address), fixture.address), fixture.text);
}

TEST(Decode, PrintsWhatNvdisasmPrintsForOtherComputeCapabilities) {
    for (const int sm : {80, 120}) {
        const auto all = fixtures(sm);
        ASSERT_GT(all.size(), 200U) << sm;
        for (const auto& fixture : all)
            EXPECT_EQ(text_of(decode(fixture.word, sm, fixture.address), fixture.address), fixture.text) << sm;
    }
}

TEST(Decode, RefusesOnOtherComputeCapabilitiesWhatWasNotComparedThere) {
    const Word store{0x001000948c007844, 0x000fe20000000200};
    EXPECT_EQ(text_of(decode(store, 90, 0), 0), "STSM.16.M88.4 [R140+0x1000], R148");
    for (const int sm : {80, 89, 100, 120})
        EXPECT_THAT(
            [&] { static_cast<void>(decode(store, sm, 0x20)); },
            ThrowsMessage<InputError>(AllOf(HasSubstr("0x20"), HasSubstr("0x844"), HasSubstr(std::to_string(sm)))));
}

TEST(Decode, FixturesCoverEveryRowOfTheTable) {
    std::set<const Row*> covered;
    for (const int sm : {80, kSm})
        for (const auto& fixture : fixtures(sm)) covered.insert(decode(fixture.word, sm, 0).form->row);
    for (const Row& row : rows())  // those without formats only name an opcode
        EXPECT_TRUE(covered.contains(&row) || row.formats.empty())
            << name_of(row.operation) << " " << row.modifiers << " " << row.operands;
}

TEST(Decode, RefusesOrEncodesBackEachChangedBit) {
    for (const auto& fixture : fixtures())
        for (std::uint8_t bit = 0; bit < 128; ++bit) {
            Word changed = fixture.word;
            changed.set({bit, 1}, 1 - changed.get({bit, 1}));
            try {
                EXPECT_EQ(encode(decode(changed, kSm, 0)), changed) << fixture.text << ", bit " << int{bit};
            } catch (const InputError&) {}  // bits that no row of the table accounts for
        }
}

TEST(Decode, FitsOneFormAlone) {
    for (const auto& fixture : fixtures()) {
        int fitting = 0;
        for (const Form& form : forms_of(static_cast<std::uint16_t>(fixture.word.get({0, 12})))) {
            bool valid = !((fixture.word ^ form.fixed_value) & form.fixed_mask).any() && form.row->first_sm <= kSm &&
                         form.row->last_sm >= kSm;
            for (const auto& modifier : form.modifiers)
                valid = valid && text_of(modifier.modifier, modifier.field.get(fixture.word)) != "!";
            fitting += valid ? 1 : 0;
        }
        EXPECT_EQ(fitting, 1) << fixture.text;
    }
}

TEST(Decode, GivesFieldsWithoutText) {
    const auto add = decode(kAdd, kSm, 0);
    EXPECT_EQ(add.operation, Operation::FADD);
    EXPECT_EQ(add.guard, (Guard{.predicate = 0, .invert = false, .uniform = false}));
    EXPECT_EQ(add.value(Modifier::ftz), 1);
    EXPECT_EQ(add.value(Modifier::rounding), 0);
    EXPECT_FALSE(add.has(Modifier::relu));
    ASSERT_EQ(add.operand_count, 3);
    EXPECT_EQ(add.operands()[1].reg, 2);
    EXPECT_TRUE(add.operands()[2].negate);
    EXPECT_TRUE(add.operands()[2].reuse);
    EXPECT_EQ(
        add.control,
        (Control{.stall = 4, .stay = false, .write_barrier = 2, .read_barrier = kNoBarrier, .wait = 0x21, .reuse = 4}));
    EXPECT_EQ(text_of(add, 0), "@P0 FADD.FTZ R1, R2, -R3.reuse");
    EXPECT_EQ(mnemonic_of(add), "FADD.FTZ");
}

TEST(Decode, RefusesUnknownOpcodesAndBits) {
    Word unknown = kAdd;
    unknown.set({0, 12}, 0xfff);
    EXPECT_THAT([&] { static_cast<void>(decode(unknown, kSm, 0x40)); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("0x40"), HasSubstr("opcode 0xfff"), HasSubstr("sm_90"))));
    Word bits = kAdd;
    bits.set({84, 3}, 7);
    EXPECT_THAT([&] { static_cast<void>(decode(bits, kSm, 0x40)); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("0x40"), HasSubstr("FADD"), HasSubstr("bits 84-86"))));
    EXPECT_THAT([&] { static_cast<void>(decode(kAdd, 50, 0)); }, ThrowsMessage<InputError>(HasSubstr("sm_50")));
}

TEST(Decode, RefusesDependenceBarriersThatNoWarpHas) {
    for (const auto& [first, name] : {std::pair{kWriteBarrier.first, "write"}, {kReadBarrier.first, "read"}})
        for (std::uint64_t barrier = 0; barrier < 8; ++barrier) {
            Word word = kAdd;
            word.set({first, 3}, barrier);
            if (barrier != 6) {
                EXPECT_EQ(encode(decode(word, kSm, 0x40)), word);
                continue;
            }
            EXPECT_THAT([&] { static_cast<void>(decode(word, kSm, 0x40)); },
                        ThrowsMessage<InputError>(AllOf(
                            HasSubstr("0x40"), HasSubstr("(FADD) has dependence barrier 6 as its " + std::string(name)),
                            HasSubstr("expected 0 to 5, or 7 for none"))));
        }
}

TEST(Decode, RefusesModifierValuesThatNoInstructionHas) {
    Word compare{0x0000000f0600720b, 0x000fe20003f2e000};  // FSETP.GEU.AND
    EXPECT_EQ(text_of(decode(compare, kSm, 0), 0), "FSETP.GEU.AND P1, PT, R6, R15, PT");
    compare.set({74, 2}, 3);
    EXPECT_THAT([&] { static_cast<void>(decode(compare, kSm, 0)); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("FSETP"), HasSubstr("'combine'"))));
}

TEST(Decode, RefusesCodeThatEndsWithinAnInstruction) {
    const auto code = bytes_of({kAdd, kAdd});
    EXPECT_EQ(decode(std::span(code), kSm).size(), 2U);
    EXPECT_THAT([&] { static_cast<void>(decode(std::span(code).first(24), kSm)); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("0x10"), HasSubstr("ends at 0x18"))));
}

TEST(Encode, GivesBackEveryFixture) {
    for (const auto& fixture : fixtures())
        EXPECT_EQ(encode(decode(fixture.word, kSm, fixture.address)), fixture.word) << fixture.text;
}

TEST(Encode, TakesChangedOperands) {
    auto add = decode(kAdd, kSm, 0);
    add.guard = {};
    add.operand_store[0].reg = 77;
    add.operand_store[2].negate = false;
    add.control.reuse = 0;
    EXPECT_EQ(text_of(decode(encode(add), kSm, 0), 0), "FADD.FTZ R77, R2, R3");
}

TEST(Encode, RefusesWhatDoesNotFit) {
    auto branch = decode({0x0000000000241947, 0x000fea0003800000}, kSm, 0);
    EXPECT_EQ(text_of(branch, 0), "@P1 BRA 0xa0");
    branch.operand_store[1].value = 6;
    EXPECT_THAT([&] { static_cast<void>(encode(branch)); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("BRA"), HasSubstr("number 6"))));
    auto add = decode(kAdd, kSm, 0);
    add.operand_store[0].negate = true;
    EXPECT_THAT([&] { static_cast<void>(encode(add)); }, ThrowsMessage<InputError>(HasSubstr("no such sign")));
    add = decode(kAdd, kSm, 0);
    add.operand_store[1].kind = OperandKind::uniform;
    EXPECT_THAT([&] { static_cast<void>(encode(add)); }, ThrowsMessage<InputError>(HasSubstr("another kind")));
    EXPECT_THAT([] { static_cast<void>(encode(Instruction{})); },
                ThrowsMessage<InputError>(HasSubstr("without a form")));
}

TEST(Control, IsReplacedInPlace) {
    auto code = bytes_of({kAdd, kAdd});
    Control control = control_of(kAdd);
    control.stall = 15;
    control.wait = 0;
    set_control(code, 1, control);
    EXPECT_EQ(word_at(code, 0), kAdd);
    EXPECT_EQ(control_of(word_at(code, kInstructionBytes)), control);
    EXPECT_EQ(text_of(decode(word_at(code, kInstructionBytes), kSm, 0), 0), "@P0 FADD.FTZ R1, R2, -R3.reuse");
}

TEST(Control, RefusesValuesThatDoNotFitAndIndicesBeyondTheEnd) {
    auto code = bytes_of({kAdd});
    EXPECT_THAT([&] { set_control(code, 0, {.stall = 16}); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("stall count is 16"), HasSubstr("at most 15"))));
    EXPECT_THAT([&] { set_control(code, 1, {}); }, ThrowsMessage<InputError>(HasSubstr("the code ends at 0x10")));
}

TEST(Word, HoldsFieldsAcrossItsHalves) {
    Word word;
    word.set({60, 12}, 0xabc);
    EXPECT_EQ(word, (Word{0xc000000000000000, 0xab}));
    EXPECT_EQ(word.get({60, 12}), 0xabcU);
    word.set({60, 12}, 0);
    EXPECT_FALSE(word.any());
    EXPECT_EQ(sign_extended(0x800000, 24), -0x800000);
}

}  // namespace
}  // namespace gputomo::sass
