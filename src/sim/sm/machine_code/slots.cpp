#include "sim/sm/machine_code/slots.hpp"

#include "costs/issue_slots.hpp"
#include "sass/code.hpp"
#include "sass/form.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

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

std::uint8_t arithmetic_results(const sass::Instruction& instruction) {
    if (instruction.form == nullptr || instruction.form->facts->what != sass::Class::compute) return 0;
    switch (instruction.form->facts->unit) {
        case sass::Unit::sp:
        case sass::Unit::integer:
        case sass::Unit::sfu: return instruction.form->row->modifiers.find(".WIDE") != std::string_view::npos ? 2 : 1;
        case sass::Unit::dpu: return 2;
        default: return 0;
    }
}

std::uint8_t stall_cycles(const sass::Instruction& instruction, const machine::Issue& issue) {
    const sass::Control& control = instruction.control;
    std::int64_t cycles = std::max<int>(control.stall, control.stay ? 1 : 2);
    if (instruction.operation == sass::Operation::YIELD) cycles = std::max(cycles, issue.yield_latency.value_or(0));
    return static_cast<std::uint8_t>(std::min<std::int64_t>(cycles, std::numeric_limits<std::uint8_t>::max()));
}

BarrierWait barrier_wait(const sass::Instruction& instruction) {
    BarrierWait wait;
    for (const sass::Operand& operand : instruction.operands()) {
        if (operand.kind == sass::OperandKind::scoreboard) wait.barrier = operand.reg;
        if (operand.kind == sass::OperandKind::group_barrier) wait.barrier = static_cast<int>(costs::kProductGroups);
        if (operand.kind == sass::OperandKind::immediate) wait.left = static_cast<std::uint32_t>(operand.value);
        if (operand.kind == sass::OperandKind::scoreboard_set) wait.others |= static_cast<std::uint32_t>(operand.value);
    }
    return wait;
}

}  // namespace gputomo::sim
