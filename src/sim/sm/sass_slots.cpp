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
        for (std::uint32_t word = 0; word < instruction.form->facts->words_of_source(place); ++word)
            if (std::ranges::find(registers, operand.reg + word) == registers.end())
                registers.push_back(operand.reg + word);
    }
    return registers;
}

}  // namespace

double compute_slots(const machine_code::MachineProgram& program, std::size_t at, const Cost& cost,
                     const OperandBanks& file) {
    const sass::Instruction& instruction = program.steps[at].instruction;
    if (instruction.form == nullptr) return machine::slots_beside_others(cost.issue_slots);
    // Matrices take registers of all banks.
    const bool matrices = instruction.form->facts->unit == sass::Unit::tensor;
    const double slots = matrices ? cost.issue_slots : machine::slots_beside_others(cost.issue_slots);
    const auto* const before = at == 0 ? nullptr : &program.steps[at - 1].instruction;
    return slots + bank_conflict_slots(registers_read(instruction, before), file);
}

}  // namespace gputomo::sim
