// Which values of a description an answer depends on most.
#pragma once

#include "machine/machine.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gputomo::answer {

/// How an answer depends on one number of the description.
struct Sensitivity {
    std::string path;
    std::string value;          ///< with its unit
    std::string evidence;       ///< "measured, confidence 0.97", a citation, or "assumed"
    double larger_cycles = 0;   ///< of the launch, where the number is larger by kSensitivityStep
    double smaller_cycles = 0;  ///< where it is smaller by that
    double elasticity = 0;      ///< relative change of the time over that of the number, negative where time falls
};

/// By how much a number is changed, as a share of it.
inline constexpr double kSensitivityStep = 0.1;
/// Numbers that change the time by less are left out.
inline constexpr double kLeastChange = 0.002;

/// Cycles of the launch on a GPU of this description. Throws InputError where the description cannot be used.
using CyclesOn = std::function<double(const machine::Machine&)>;

/// Changes numbers that describe time, and capacities of caches, in groups with random signs. Groups that change the
/// time are divided until each has one number. The largest elasticities come first. Asks for cycles some hundred times;
/// `progress` is called before each with the numbers that are decided and that there are.
[[nodiscard]] std::vector<Sensitivity> sensitivities(const machine::Machine& machine, const CyclesOn& cycles,
                                                     const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace gputomo::answer
