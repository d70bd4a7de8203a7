// What machine instructions cost: which unit each takes and how long its result takes, from the description.
#pragma once

#include "sim/machine_code/program.hpp"
#include "sim/sm/units/costs.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::sim {

/// An operation of which no scan timed the cost, and what stands in for it.
struct AssumedCost {
    std::string operation;  ///< "S2R"
    std::string assumption;
    bool operator==(const AssumedCost&) const = default;
};

/// The costs of a kernel's instructions.
struct SassCosts {
    static constexpr std::uint16_t kTimed = 0xFFFF;
    std::vector<Cost> costs;
    std::vector<std::uint16_t> cost_of;     ///< by step: an index into `costs`
    std::vector<AssumedCost> assumptions;   ///< each operation once
    std::vector<std::uint16_t> assumed_of;  ///< by step: an index into `assumptions`, or kTimed
};

/// Looks up each step's unit and PTX operation in the instruction table (sass/facts.hpp). Latency and rate are those of
/// the PTX operation where it is this one machine instruction. Without such a measurement, the unit's own latency and
/// rate are assumed; without a described unit, the latency of the unit of integers and no limit of rate.
[[nodiscard]] SassCosts sass_costs_of(const machine_code::MachineProgram& program, const machine::Machine& machine,
                                      const CostModel& model);

}  // namespace gputomo::sim
