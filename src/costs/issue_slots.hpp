// Issue slots of instructions among others.
#pragma once

#include "costs/register_ports.hpp"

namespace gputomo::costs {

/// Issue slots of an instruction that takes `described` ones where its registers are in a bank that the instructions
/// beside it use in every cycle. Half of the further slots are for its sources. Beside other code their reads even out
/// (RegisterPorts). The other half is for its result, which meets the results of others in one bank of `file.banks`.
/// On an H200 with two banks that gives 1.45 slots for 2.8 described ones, as `issue_cost` measured with a quarter of
/// the registers in the adds' bank.
[[nodiscard]] inline double slots_beside_others(double described, const RegisterFile& file) {
    constexpr double kResult = 0.5;
    return file.banks < 2 ? described : 1 + (described - 1) * kResult / file.banks;
}

}  // namespace gputomo::costs
