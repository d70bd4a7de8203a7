// Every row of the instruction table is either executed or refused by name.
#include "launching.hpp"

#include "ptx/instructions.hpp"
#include "ptx/names.hpp"
#include "ptx/parser.hpp"
#include "sim/exec/program.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace gputomo::sim::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> words(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto end = std::min(text.find(separator), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

/// The row's mnemonic with choice number `pick` of each suffix, or its last choice where it has fewer.
std::string mnemonic_for(const ptx::Form& form, const std::string& type, const std::string& source, std::size_t pick,
                         bool with_options) {
    std::string mnemonic{ptx::name_of(form.opcode)};
    for (std::string slot : words(form.suffixes, ' ')) {
        const bool optional = slot.ends_with('?');
        if (optional && !with_options) continue;
        if (optional) slot.pop_back();
        const auto choices = words(slot, '|');
        if (slot == "T")
            slot = type;
        else if (slot == "S")
            slot = source;
        else if (slot == "SP")
            slot = "shared";
        else if (slot == "V")
            slot = "v2";
        else
            slot = choices[std::min(pick, choices.size() - 1)];
        mnemonic += "." + slot;
    }
    return mnemonic;
}

ptx::Arg operand(KernelBuilder& k, const ptx::OperandRule& rule, const ptx::Instruction& instruction) {
    const auto of = [&](Type asked) {
        const bool byte = asked == Type::none || (asked != Type::pred && ptx::size_of(asked) < Bytes(2));
        return k.reg(byte ? Type::u32 : asked);
    };
    const Type type = ptx::required_type(rule, instruction);
    if (rule.type == "P") return of(Type::pred);
    if (rule.type == "[]") return Mem(of(Type::u64));
    if (rule.type == "A") return of(Type::u64);
    if (rule.type == "C") return ptx::Vec{of(instruction.source_type)};
    if (rule.type == "v") return ptx::Vec{of(type), of(type)};
    if (rule.type == "V" && instruction.vector_width > 1) return ptx::Vec{of(instruction.type), of(instruction.type)};
    if (instruction.opcode == ptx::Opcode::lop3 && !rule.destination && rule.type == "b32") return 0x80;
    return of(type == Type::none ? instruction.type : type);
}

/// Why a kernel with this instruction cannot be executed; empty where it can.
std::string refusal(SimulatedDevice& gpu, const ptx::Form& form, const std::string& mnemonic) {
    const auto found = ptx::look_up(mnemonic);
    KernelBuilder k("one", ptx::Target{8, 0, 90});
    std::vector<ptx::Arg> args;
    for (const auto& rule : ptx::operand_rules(form))
        if (!rule.optional) args.push_back(operand(k, rule, found->instruction));
    k.emit(mnemonic, args);
    const auto module = ptx::parse(k.text());
    const Program program = decode(module, module.kernels.at(0), {});
    if (!program.refusals.empty()) return program.refusals.front();
    try {
        (void)gpu.load(k.text())->kernel("one");
    } catch (const InputError& e) {
        return e.what();
    }
    return {};
}

constexpr std::size_t kMostChoices = 14;

TEST(EveryInstruction, IsExecutedOrRefusedByName) {
    const auto gpu = make_device(small_machine(), {});
    std::set<std::string> refused;
    int executed = 0;
    for (const ptx::Form& form : ptx::instruction_table()) {
        if (form.operands.find('L') != std::string_view::npos || form.operands == "call")
            continue;  // labels: the tests of branches
        for (const auto& type : form.types.empty() ? std::vector<std::string>{""} : words(form.types, ' '))
            for (const auto& source :
                 form.source_types.empty() ? std::vector<std::string>{""} : words(form.source_types, ' '))
                for (std::size_t pick = 0; pick < kMostChoices; ++pick)
                    for (const bool with_options : {false, true}) {
                        const std::string mnemonic = mnemonic_for(form, type, source, pick, with_options);
                        ASSERT_TRUE(ptx::look_up(mnemonic)) << mnemonic;
                        const std::string said = refusal(*gpu, form, mnemonic);
                        if (said.empty()) {
                            ++executed;
                            continue;
                        }
                        EXPECT_THAT(said, HasSubstr(mnemonic));
                        EXPECT_THAT(said, HasSubstr("simulated"));
                        const bool half = mnemonic.find("f16") != std::string::npos;  // f16, bf16 and their pairs
                        if (!half) refused.insert(std::string(ptx::name_of(form.opcode)));
                    }
    }
    EXPECT_GT(executed, 2000);
    // Some rows are refused in part: atom.cas.b16, barrier.cluster, L1::no_allocate, .relu, .rna, .xorsign and float
    // coordinates. The others are refused as a whole.
    EXPECT_THAT(refused, testing::ElementsAre("atom", "barrier", "cp", "cvt", "istypep", "ld", "ldmatrix", "mapa",
                                              "max", "mbarrier", "min", "mma", "st", "tex", "wgmma"));
}

}  // namespace
}  // namespace gputomo::sim::test
