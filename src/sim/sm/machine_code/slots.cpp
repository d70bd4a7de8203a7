#include "sim/sm/machine_code/slots.hpp"

#include "costs/issue_slots.hpp"
#include "sass/code.hpp"
#include "sass/form.hpp"

#include <cstdint>

namespace gputomo::sim {
namespace {

using sass::Operand;
using sass::OperandKind;

/// Matrices take registers of all banks, which their described slots include.
bool multiplies_matrices(const sass::Instruction& instruction) {
    return instruction.form != nullptr && instruction.form->facts->unit == sass::Unit::tensor;
}

}  // namespace

costs::OperandReads operand_reads(const sass::Instruction& instruction) {
    costs::OperandReads reads;
    if (instruction.form == nullptr || multiplies_matrices(instruction)) return reads;
    const auto operands = instruction.operands();
    std::size_t source = 0;
    for (std::size_t i = 1; i < operands.size(); ++i) {
        const Operand& operand = operands[i];
        if (operand.kind != OperandKind::reg) continue;
        const std::size_t place = source++;
        const auto bit = instruction.form->slots[i].reuse;
        if (operand.reg == sass::kZeroRegister || bit.width == 0) continue;
        reads.add({.slot = static_cast<std::uint8_t>(bit.first - sass::kReuse.first),
                   .number = operand.reg,
                   .words = static_cast<std::uint8_t>(instruction.form->facts->words_of_source(place)),
                   .reuse = operand.reuse});
    }
    return reads;
}

double compute_slots(const sass::Instruction& instruction, const Cost& cost, const costs::RegisterFile& file) {
    return multiplies_matrices(instruction) ? cost.issue_slots : costs::slots_beside_others(cost.issue_slots, file);
}

}  // namespace gputomo::sim
