// Execution units: when each can take its next warp, and which of them an instruction takes.
#pragma once

#include "sim/sm/units/costs.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace gputomo::sim {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// What an instruction may have to find free before it issues: nothing, the banks of shared memory, or, from
/// kFirstUnitSet on, any unit of a set.
using Resource = std::uint16_t;
inline constexpr Resource kNoResource = 0, kSharedBanks = 1, kFirstUnitSet = 2;

struct UnitSpec {
    std::vector<std::uint8_t> of_sm;  ///< by unit: whether all schedulers of the SM feed it, instead of a share each
    std::vector<std::vector<std::uint16_t>> sets;  ///< the sets of units that some instruction can choose from
    double issue_interval = 1;                     ///< cycles of an issue slot
};
[[nodiscard]] UnitSpec unit_spec_of(const CostModel& costs, double issue_interval);
/// The resource that stands for the units of `cost`; adds their set where it is new.
Resource unit_set_of(UnitSpec& spec, const Cost& cost);

/// By unit: when it can take its next warp.
using UnitTimes = std::vector<double>;

/// The units that a scheduler feeds: of each kind it uses either its own share or the SM's.
struct UnitPorts {
    UnitTimes& own;
    UnitTimes& of_sm;
    [[nodiscard]] double& free(const UnitSpec& spec, std::uint16_t unit) const {
        return spec.of_sm[unit] != 0 ? of_sm[unit] : own[unit];
    }
};

/// Writes when each set of units has a free one, at its Resource in `available`.
inline void update_available(const UnitSpec& spec, const UnitPorts& ports, std::vector<double>& available) {
    for (std::size_t set = 0; set < spec.sets.size(); ++set) {
        double soonest = kNever;
        for (const auto unit : spec.sets[set]) {
            const double free = ports.free(spec, unit);
            if (free < soonest) soonest = free;
        }
        available[kFirstUnitSet + set] = soonest;
    }
}

/// The instruction takes the unit that is free first. A unit whose next instruction is up to an issue slot late
/// starts it as if it had come in time. Instructions for another unit may take the slot between, and the unit loses
/// no throughput by that. Operations that run on two units reach their measured throughput only so (Wong 2010,
/// Table III). The unit is busy for `longer` cycles more than its interval.
void occupy(const UnitSpec& spec, const UnitPorts& ports, const Cost& cost, double now, double longer = 0);

}  // namespace gputomo::sim
