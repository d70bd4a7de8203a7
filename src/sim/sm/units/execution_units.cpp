#include "sim/sm/units/execution_units.hpp"

#include <algorithm>

namespace gputomo::sim {

UnitSpec unit_spec_of(const CostModel& costs, double issue_interval) {
    UnitSpec spec;
    for (std::size_t unit = 0; unit < costs.unit_count(); ++unit) spec.of_sm.push_back(costs.is_shared(unit) ? 1 : 0);
    spec.issue_interval = issue_interval;
    return spec;
}

Resource unit_set_of(UnitSpec& spec, const Cost& cost) {
    std::vector<std::uint16_t> units;
    for (const auto& use : cost.units) units.push_back(use.unit);
    auto found = std::find(spec.sets.begin(), spec.sets.end(), units);
    if (found == spec.sets.end()) found = spec.sets.insert(spec.sets.end(), units);
    return static_cast<Resource>(kFirstUnitSet + (found - spec.sets.begin()));
}

void occupy(const UnitSpec& spec, const UnitPorts& ports, const Cost& cost, double now, double longer) {
    const UnitUse* best = nullptr;
    for (const auto& use : cost.units)
        if (best == nullptr || ports.free(spec, use.unit) < ports.free(spec, best->unit)) best = &use;
    if (best == nullptr) return;
    double& free = ports.free(spec, best->unit);
    free = std::max(free, now - spec.issue_interval) + best->interval + longer;
}

}  // namespace gputomo::sim
