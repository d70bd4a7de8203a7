// Operands that wait for each other because their registers lie in the same bank of the register file.
#pragma once

#include "sim/exec/program.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// Banks to which a thread's registers are dealt by number, and different registers that each gives at once.
struct OperandBanks {
    std::uint32_t banks = 0;  ///< 0: operands never wait for each other
    std::uint32_t ports = 1;
};

/// Further issue slots that reading the operands of each operation takes. Declared registers are numbered as they are
/// declared, 64-bit ones from an even number on, since PTX has no allocation; a register that an instruction names
/// twice is read once.
[[nodiscard]] std::vector<std::uint8_t> operand_waits(const Program& program, const OperandBanks& file);

}  // namespace gputomo::sim
