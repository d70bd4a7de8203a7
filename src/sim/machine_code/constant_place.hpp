// Which constant an instruction has as an operand.
#pragma once

#include "costs/constant_operands.hpp"
#include "sass/form.hpp"

#include <cstdint>

namespace gputomo::sim::machine_code {

/// Loads that release a dependence barrier go through the cache of constants. Others, of uniform registers, wait as
/// arithmetic does.
[[nodiscard]] inline std::uint32_t constant_place_of(const sass::Instruction& instruction) {
    if (instruction.form == nullptr || (instruction.form->facts->what == sass::Class::constant &&
                                        instruction.control.write_barrier != sass::kNoBarrier))
        return costs::kNoConstant;
    for (const sass::Operand& operand : instruction.operands())
        if (operand.kind == sass::OperandKind::constant && !operand.has_reg && !operand.has_uniform)
            return costs::constant_place_of(operand.bank, static_cast<std::uint64_t>(operand.value));
    return costs::kNoConstant;
}

}  // namespace gputomo::sim::machine_code
