// Which constant an instruction has as an operand.
#pragma once

#include "costs/constant_operands.hpp"
#include "sass/form.hpp"

#include <cstdint>

namespace gputomo::sim::machine_code {

/// A constant that an instruction waits for before it issues.
struct ConstantOperand {
    std::uint32_t place = costs::kNoConstant;         ///< without what a register adds
    std::uint8_t index = sass::kZeroUniformRegister;  ///< the uniform register whose value is added
};

/// Loads that release a dependence barrier go through the cache of constants. Others, of uniform registers, wait as
/// arithmetic does.
[[nodiscard]] inline ConstantOperand constant_operand_of(const sass::Instruction& instruction) {
    if (instruction.form == nullptr || (instruction.form->facts->what == sass::Class::constant &&
                                        instruction.control.write_barrier != sass::kNoBarrier))
        return {};
    for (const sass::Operand& operand : instruction.operands())
        if (operand.kind == sass::OperandKind::constant && !operand.has_reg)
            return {.place = costs::constant_place_of(operand.bank, static_cast<std::uint64_t>(operand.value)),
                    .index = operand.has_uniform ? operand.uniform : sass::kZeroUniformRegister};
    return {};
}

}  // namespace gputomo::sim::machine_code
