// Counts floating-point operations of machine code.
#pragma once

#include "launch/profile/launch_profile.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gputomo::answer {

struct StepFlop {
    std::string type;      ///< as in Work::flop
    double of_thread = 0;  ///< operations of each thread; 0 for a matrix product
    double of_warp = 0;    ///< operations of a warp, for a matrix product
};

/// What one instruction computes, by its text, such as "FFMA R1, R2, R3, R4". nullopt where it computes no
/// floating-point number. A move that the compiler writes as arithmetic on zeros computes none.
[[nodiscard]] std::optional<StepFlop> flop_of(std::string_view instruction);

/// Operations of the whole grid.
[[nodiscard]] std::map<std::string, double> flop_of(const launch::LaunchProfile& profile);

/// Matrix operations of this type in a cycle of an SM, if it executed nothing but the launch's instructions of the
/// type. The SM has `schedulers` schedulers. 0 where the launch has no such instruction.
[[nodiscard]] double matrix_flop_per_cycle(const launch::LaunchProfile& profile, std::string_view type,
                                           double schedulers);

}  // namespace gputomo::answer
