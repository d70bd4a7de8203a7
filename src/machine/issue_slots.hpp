// Issue slots of instructions among others.
#pragma once

namespace gputomo::machine {

/// Issue slots of an instruction that takes `described` ones where it has registers in the banks of the instructions
/// beside it. In the loops that measured it on an H200, a quarter of the compiler's registers were there.
[[nodiscard]] inline double slots_beside_others(double described) {
    constexpr double kShare = 0.25;
    return 1 + (described - 1) * kShare;
}

}  // namespace gputomo::machine
