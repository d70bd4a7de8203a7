// The units of the SMs that run a launch: what the description says of each, and its state.
#pragma once

#include "costs/register_ports.hpp"
#include "sim/sm/engine/block_launch.hpp"
#include "sim/sm/engine/launch.hpp"
#include "sim/sm/load_store/bulk_copies.hpp"
#include "sim/sm/load_store/load_store.hpp"
#include "sim/sm/units/barriers.hpp"
#include "sim/sm/units/control_flow.hpp"
#include "sim/sm/units/execution_units.hpp"
#include "sim/sm/units/fetch.hpp"
#include "sim/sm/units/operands.hpp"
#include "sim/sm/units/scheduler.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// In the order in which a warp instruction passes them (docs/simulator.md). A specification never changes during a
/// launch.
struct SmUnits {
    BlockLaunchSpec block_launch_spec;
    BlockLaunchState block_launch;
    FetchUnit fetch;
    OperandSpec operands;
    SchedulerSpec scheduler_spec;
    std::vector<Scheduler> schedulers;                 ///< those of an SM follow each other
    std::vector<costs::RegisterPorts> register_ports;  ///< by scheduler
    UnitSpec execution;
    std::vector<UnitTimes> of_scheduler;  ///< by scheduler: the execution units that it alone feeds
    std::vector<UnitTimes> of_sm;         ///< by SM: the execution units that all its schedulers feed
    LoadStoreUnit load_store;
    BulkCopyUnit bulk_copies;
    BranchSpec branches;
    ClockSpec clock;
    BarrierSpec barriers;
};

/// All units, idle, for a launch whose code ends at the address `code_end`. How many blocks there are and how many fit
/// on an SM is left for the caller to fill in. Throws InputError where the description has no SMs or no rate for a
/// unit.
[[nodiscard]] SmUnits make_sm_units(const LaunchSetup& setup, std::uint64_t code_end);

}  // namespace gputomo::sim
