// The state of a running launch, and what connects the units of the SMs.
//
// Each scheduler of each SM is an event: the time at which one of its warps can issue next. The engine handles the
// earliest event: the chosen warp issues one instruction, and the scheduler's next event follows from its warps'
// registers, units, barriers and instruction supply. Nothing happens between events, so idle cycles cost nothing.
//
// The units know neither the engine nor each other's state: fetch, scheduler, execution_units, operands, load_store,
// barriers, warp_members, control_flow, block_launch. Three members connect them with the executed machine language.
// The member prepare() says when a warp's next instruction can issue. The member issue() computes it and takes the
// units. The member can_pair() says whether a second one issues with it. Those of PTX are in ptx_issue.cpp,
// ptx_memory.cpp and ptx_barriers.cpp.
#pragma once

#include "sim/exec/data_access.hpp"
#include "sim/exec/special_registers.hpp"
#include "sim/sm/barriers.hpp"
#include "sim/sm/block_launch.hpp"
#include "sim/sm/control_flow.hpp"
#include "sim/sm/execution_units.hpp"
#include "sim/sm/fetch.hpp"
#include "sim/sm/launch.hpp"
#include "sim/sm/load_store.hpp"
#include "sim/sm/operands.hpp"
#include "sim/sm/scheduler.hpp"
#include "sim/sm/warp.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

namespace gputomo::sim {

/// What the description says of the SM, as its units need it. Never changes.
struct SmSpec {
    SchedulerSpec scheduler;
    OperandSpec operands;
    BarrierSpec barriers;
    BranchSpec branches;
    ClockSpec clock;
    Divergence divergence = Divergence::stack;
    bool taken_first = true;              ///< a diverged warp runs the threads that take the branch first
    std::uint64_t instruction_bytes = 8;  ///< of one machine instruction
};

/// What an instruction asks of the units, the same each time it issues.
struct IssueNeeds {
    Resource resource = kNoResource;
    bool on_cores = false;            ///< runs on the CUDA cores
    std::uint8_t conflict_slots = 0;  ///< issue slots that register bank conflicts add
};

class Engine {
public:
    Engine(const LaunchSetup& setup, Counters& counters);
    double run();

private:
    // ---- set-up and blocks (engine_blocks.cpp)
    void size_launch();
    void make_schedulers();
    void place_initial_blocks();
    bool place_block(std::uint32_t sm, double now);
    void start_warp(std::uint32_t block, std::uint32_t in_block, std::uint32_t threads, double now);
    void choose_slot(Warp& warp, std::uint32_t sm);
    void end_warp(std::uint32_t warp, double now);
    std::uint32_t take_warp();
    std::uint32_t take_block();

    // ---- events (engine.cpp)
    void run_scheduler(std::uint32_t index, double now);
    void issue_from(std::uint32_t index, std::size_t position, double now);
    void update_resources(std::uint32_t index);
    [[nodiscard]] double next_event(std::uint32_t index);
    void post(std::uint32_t scheduler);

    // ---- PTX instructions (ptx_issue.cpp)
    void find_needs();
    void prepare(Warp& warp, double now);
    [[nodiscard]] bool can_pair(const Operation& first, const Warp& warp, double now);
    void issue(std::uint32_t warp_index, double now);
    void execute(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    /// Takes a unit and issue slots; returns the latency of the warp's step.
    double occupy_unit(const Warp& warp, const Operation& op, double now);
    void issue_arithmetic(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_special(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_branch(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_indexed_branch(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_exit(Warp& warp, std::uint32_t mask);
    void issue_sleep(Warp& warp, const Operation& op, std::uint32_t mask, double now);

    // ---- PTX loads, stores, atomics and texture fetches (ptx_memory.cpp)
    void issue_memory(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_texture(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    /// Performs the access in the load/store unit and holds warp and scheduler back as it says.
    AccessTimes time_access(Warp& warp, const MemoryInstruction& instruction, std::uint32_t mask, double now);

    // ---- PTX barriers (ptx_barriers.cpp)
    void issue_barrier(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_warp_barrier(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void release_if_complete(Block& block, int number);
    void release_complete_barriers(Block& block);
    void leave_barrier(Warp& warp, int number, const BarrierRelease& release);

    // ---- messages (report.cpp)
    void check_time_limit();
    [[noreturn]] void report_deadlock() const;
    [[noreturn]] void fail(const Warp& warp, const Operation& op, int lane, const std::string& what) const;
    [[nodiscard]] std::string where(const Warp& warp) const;
    [[nodiscard]] std::string where(const Warp& warp, const WarpPath& path) const;

    [[nodiscard]] const Operation& operation_at(const Warp& warp) const {
        return program_.operations[warp.paths.current().pc];
    }
    [[nodiscard]] UnitPorts ports_of(std::uint32_t scheduler) {
        return {scheduler_units_[scheduler], sm_units_[schedulers_[scheduler].sm]};
    }

    const LaunchSetup& setup_;
    const Program& program_;
    Counters& counters_;

    // ---- what does not change during the launch
    SmSpec spec_;
    UnitSpec unit_spec_;
    BlockLaunchSpec block_spec_;
    LaunchFacts facts_;
    std::vector<IssueNeeds> needs_;      ///< by operation
    std::vector<std::byte> parameters_;  ///< of the kernel, packed
    std::uint64_t shared_bytes_ = 0;     ///< of a block

    // ---- units and their state
    FetchUnit fetch_;
    LoadStoreUnit load_store_;
    BlockLaunchState block_state_;
    std::vector<Scheduler> schedulers_;
    std::vector<UnitTimes> scheduler_units_;     ///< by scheduler: the units that it alone feeds
    std::vector<UnitTimes> sm_units_;            ///< by SM: the units that all its schedulers feed
    std::vector<std::uint32_t> next_scheduler_;  ///< by SM: warps started so far, which go to its schedulers in turn
    std::vector<Warp> warps_;                    ///< never grows beyond what is reserved, so references hold
    std::vector<std::uint32_t> free_warps_;
    std::vector<Block> blocks_;  ///< never grows beyond what is reserved
    std::vector<std::uint32_t> free_blocks_;
    std::uint64_t live_warps_ = 0;

    /// Time, last issue, scheduler. Where several schedulers can issue at the same time, the one that issued longest
    /// ago comes first. They therefore take turns at what they share: banks of shared memory and the path to memory.
    using Event = std::tuple<double, double, std::uint32_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    double latest_ = 0;   ///< the launch is not over before
    LaneData lane_data_;  ///< of the memory instruction that issues
    std::uint64_t issued_since_check_ = 0;
    std::chrono::nanoseconds deadline_;  ///< processor time of this thread
};

}  // namespace gputomo::sim
