#include "sim/sm/sass_slots.hpp"

#include "machine/issue_slots.hpp"
#include "sass/code.hpp"
#include "sass/form.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gputomo::sim {
namespace {

using sass::Operand;
using sass::OperandKind;
using Opcode = sass::Operation;

/// Matrices take registers of all banks.
bool multiplies_matrices(Opcode operation) {
    return operation == Opcode::HMMA || operation == Opcode::IMMA || operation == Opcode::DMMA;
}

/// 32-bit words that an operand takes in the register file.
std::uint32_t words_of_operand(const sass::Instruction& instruction, std::size_t source) {
    switch (instruction.operation) {
        case Opcode::DADD:
        case Opcode::DMUL:
        case Opcode::DFMA:
        case Opcode::DSETP: return 2;
        case Opcode::IMAD: return instruction.form->row->opcode == 0x025 && source == 2 ? 2 : 1;
        case Opcode::DMMA:
        case Opcode::HMMA:
        case Opcode::IMMA: return source == 1 ? 2 : 4;
        default: return 1;
    }
}

/// The registers that an instruction reads from the register file, without those that the instruction before it left in
/// the reuse cache. Another warp's instruction between the two would take its place there; that is not followed.
std::vector<std::uint32_t> registers_read(const sass::Instruction& instruction, const sass::Instruction* before) {
    std::vector<std::uint32_t> registers;
    std::size_t source = 0;
    for (const Operand& operand : instruction.operands().subspan(instruction.operand_count == 0 ? 0 : 1)) {
        if (operand.kind != OperandKind::reg) continue;
        const std::size_t place = source++;
        if (operand.reg == sass::kZeroRegister) continue;
        const bool kept = before != nullptr && std::ranges::any_of(before->operands(), [&](const Operand& other) {
                              return other.kind == OperandKind::reg && other.reuse && other.reg == operand.reg;
                          });
        if (kept) continue;
        for (std::uint32_t word = 0; word < words_of_operand(instruction, place); ++word)
            if (std::ranges::find(registers, operand.reg + word) == registers.end())
                registers.push_back(operand.reg + word);
    }
    return registers;
}

}  // namespace

double compute_slots(const machine_code::MachineProgram& program, std::size_t at, const Cost& cost,
                     const OperandBanks& file) {
    const sass::Instruction& instruction = program.steps[at].instruction;
    const double slots =
        multiplies_matrices(instruction.operation) ? cost.issue_slots : machine::slots_beside_others(cost.issue_slots);
    if (instruction.form == nullptr) return slots;
    const auto* const before = at == 0 ? nullptr : &program.steps[at - 1].instruction;
    return slots + bank_conflict_slots(registers_read(instruction, before), file);
}

}  // namespace gputomo::sim
