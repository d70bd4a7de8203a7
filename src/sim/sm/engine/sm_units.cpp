#include "sim/sm/engine/sm_units.hpp"

namespace gputomo::sim {

SmUnits make_sm_units(const LaunchSetup& setup, std::uint64_t code_end) {
    const machine::Machine& machine = setup.machine;
    const auto sms = static_cast<std::size_t>(*machine.topology.sms);
    const std::size_t schedulers_per_sm = setup.costs.schedulers();
    const std::size_t schedulers = sms * schedulers_per_sm;
    const SchedulerSpec scheduler_spec = scheduler_spec_of(machine.issue);
    const OperandSpec operands = operand_spec_of(machine);
    const UnitTimes all_free(setup.costs.unit_count(), 0.0);

    SmUnits units{
        // A block starts on an SM, and each of its warps goes to one of the SM's schedulers: Engine::place_block().
        .block_launch_spec = block_launch_spec_of(machine.launch),
        .block_launch = {.sms = std::vector<SmOccupancy>(sms)},
        // The warp's next instruction is fetched: prepare() of the engine of its language.
        .fetch = {.spec = fetch_spec_of(machine), .code_end = code_end, .memory = setup.memory_system},
        // It waits for its operands: prepare().
        .operands = operands,
        // Its scheduler chooses among the warps that are ready: Engine::run_scheduler().
        .scheduler_spec = scheduler_spec,
        .schedulers = std::vector<Scheduler>(schedulers),
        // It issues, and reads its registers: issue_next().
        .register_ports = std::vector(schedulers, costs::RegisterPorts(operands.file)),
        // It executes and keeps a unit busy: occupy().
        .execution = unit_spec_of(setup.costs, scheduler_spec.issue_interval),
        .of_scheduler = std::vector(schedulers, all_free),
        .of_sm = std::vector(sms, all_free),
        // An access to memory passes Engine::time_access(), and from there MemorySystem::access().
        .load_store = {.spec = load_store_spec_of(machine, setup.costs.global_loads()),
                       .coalescers = Coalescers(machine),
                       .state = idle_load_store(costs::shared_queue_spec_of(machine.shared), sms, schedulers_per_sm),
                       .memory = setup.memory_system},
        // SassEngine::copy_bulk() starts a bulk copy.
        .bulk_copies = {.spec = costs::bulk_spec_of(machine),
                        .free = std::vector<double>(sms, 0.0),
                        .maps = std::vector<TensorMaps>(sms)},
        // A branch, a read of the clock or a barrier holds the warp back, and its next instruction is fetched.
        .branches = branch_spec_of(machine.issue),
        .clock = clock_spec_of(machine.clock),
        .barriers = barrier_spec_of(machine.issue)};
    for (std::size_t i = 0; i < schedulers; ++i) {
        Scheduler& scheduler = units.schedulers[i];
        scheduler.sm = static_cast<std::uint32_t>(i / schedulers_per_sm);
        scheduler.number = static_cast<std::uint32_t>(i % schedulers_per_sm);
        scheduler.event = kNever;
    }
    return units;
}

}  // namespace gputomo::sim
