#include "launch/profile/rough_clock.hpp"

#include "launch/profile/steps.hpp"
#include "machine/cache_scope.hpp"
#include "sim/machine_code/wait_watch.hpp"

namespace gputomo::launch {

std::vector<float> rough_cycles(const sim::machine_code::MachineProgram& program, const machine::Machine& machine) {
    LaunchProfile costs;
    costs.executed.resize(program.steps.size());
    costs.further_values.resize(program.steps.size());
    add_steps(program, machine, costs);
    const auto accesses = sim::machine_code::visible_accesses(program);
    double memory = 0, l2 = 0;
    if (const auto path = machine.paths.find("global"); path != machine.paths.end())
        memory = static_cast<double>(path->second.memory_latency.value_or(0));
    if (const auto* const cache = machine::shared_cache(machine, "global"); cache != nullptr)
        l2 = static_cast<double>(cache->latency.value_or(0));
    std::vector<float> cycles;
    for (std::size_t i = 0; i < costs.steps.size(); ++i) {
        double each = costs.steps[i].stall;
        if (accesses.reads_global[i])
            each += accesses.kind[i] == sim::machine_code::Visible::read ? memory : (l2 > 0 ? l2 : memory);
        cycles.push_back(static_cast<float>(each));
    }
    return cycles;
}

}  // namespace gputomo::launch
