// The state of a running launch, and what connects the units of the SMs (sm_units.hpp lists them).
//
// Each scheduler of each SM is an event: the time at which one of its warps can issue next. The engine handles the
// earliest event: the chosen warp issues one instruction, and the scheduler's next event follows from its warps'
// registers, units, barriers and instruction supply. Nothing happens between events, so idle cycles cost nothing.
//
// The units know neither the engine nor each other's state. A class for each executed language derives from Engine and
// connects them with its instructions: PtxEngine (ptx_engine.hpp) and SassEngine (sass_engine.hpp).
#pragma once

#include "sim/exec/special_registers.hpp"
#include "sim/sm/engine/event_queue.hpp"
#include "sim/sm/engine/sm_units.hpp"
#include "sim/sm/engine/warp.hpp"
#include "sim/sm/sampling/block_sampling.hpp"
#include "sim/sm/sampling/launch_cut.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::sim {

/// What the units need to know of a kernel, whichever language it is in.
struct KernelShape {
    std::string name;
    std::uint64_t code_address = 0;
    std::uint64_t code_bytes = 0;
    std::uint64_t constants_address = 0;  ///< of the constant bank that the launch writes
    std::uint64_t constants_bytes = 0;
    std::uint64_t static_shared = 0;  ///< bytes of a block
    std::uint64_t system_shared = 0;  ///< bytes before them that the system keeps, which a block's overhead covers
    int registers_per_thread = 0;
    int max_threads = 0;         ///< most threads of a block (.maxntid); 0: as many as the GPU takes
    std::size_t parameters = 0;  ///< how many
    /// It can see what other blocks do during the launch, and may therefore need all of them.
    bool sees_other_blocks = false;
    device::Dim3 cluster{};  ///< blocks of a cluster, which are on the GPU at once
};

/// Where a parameter lies in the kernel's parameter space.
struct ParameterPlace {
    std::size_t offset = 0, bytes = 0;
};

/// The parameter space of a launch, `bytes` long. Throws DeviceError where the arguments do not fit the parameters.
[[nodiscard]] std::vector<std::byte> packed_parameters(const std::string& kernel,
                                                       const std::vector<ParameterPlace>& places, std::size_t bytes,
                                                       const device::Arguments& arguments);

class Engine {
public:
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;
    [[nodiscard]] LaunchTime run();

protected:
    Engine(const LaunchSetup& setup, KernelShape shape, Counters& counters);

    // ---- what the executed language does
    /// One more warp, which lives as long as the engine.
    virtual ResidentWarp& make_warp() = 0;
    /// The warp starts again with the threads of `lanes`, in its block.
    virtual void begin_warp(ResidentWarp& warp, std::uint32_t lanes, double now) = 0;
    /// Says when the warp's next instruction can issue, and what it needs.
    virtual void prepare_next(ResidentWarp& warp, double now) = 0;
    /// The warp issues its next instruction, and those that issue together with it.
    virtual void issue_next(std::uint32_t warp, double now) = 0;
    /// Threads of a live warp of the block.
    [[nodiscard]] virtual std::uint32_t live_threads(const ResidentWarp& warp) const = 0;
    /// Lets the warp go on if it waits at the barrier.
    virtual void leave_barrier(ResidentWarp& warp, int number, const BarrierRelease& release) = 0;
    /// Warp instructions that were issued, by place in the code. Empty where they are not counted so.
    [[nodiscard]] virtual std::vector<std::uint64_t> issued_by_place() const { return {}; }
    /// "block (0, 0, 0) warp 1 is at line 3: ..."
    [[nodiscard]] virtual std::string where(const ResidentWarp& warp) const = 0;
    /// What the warp's operands wait for, for the report of a deadlock.
    [[nodiscard]] virtual std::string operands_of(const ResidentWarp& warp) const = 0;

    /// Something happens at a unit of all SMs, as post_unit() has said.
    virtual void serve_unit(std::size_t /*unit*/, double /*now*/) {}

    // ---- blocks and warps (engine_blocks.cpp)
    void end_warp(std::uint32_t warp, double now);
    void release_if_complete(Block& block, int number);
    void release_complete_barriers(Block& block);

    // ---- events (engine.cpp)
    /// The warp can go on at an event that was not its own issue.
    void wake(ResidentWarp& warp, double now) {
        prepare_next(warp, now);
        post(warp.scheduler);
    }
    void update_resources(std::uint32_t scheduler);
    /// serve_unit() is called for the unit at `when`.
    void post_unit(std::size_t unit, double when) {
        events_.push({when, 0, static_cast<std::uint32_t>(units_.schedulers.size() + unit)});
    }

    // ---- what an instruction takes
    /// Performs the access in the load/store unit and holds warp and scheduler back as it says. `local_bytes` is the
    /// size of a thread's frame.
    AccessTimes time_access(ResidentWarp& warp, std::uint32_t number, WarpAccess access, std::uint64_t local_bytes,
                            double now);
    /// The launch lasts until `when` at least, and stores drain from there on.
    void latest_load(double when) {
        latest_ = std::max(latest_, when);
        loads_ = true;
    }
    void latest_store(double when) { latest_store_ = std::max(latest_store_, when); }
    [[nodiscard]] UnitPorts ports_of(std::uint32_t scheduler) {
        return {units_.of_scheduler[scheduler], units_.of_sm[units_.schedulers[scheduler].sm]};
    }
    [[nodiscard]] WarpFacts facts_of(const ResidentWarp& warp, double now) const;

    // ---- messages (report.cpp)
    [[nodiscard]] std::string place_of(const ResidentWarp& warp) const;

    const LaunchSetup& setup_;
    const KernelShape shape_;
    Counters& counters_;

    LaunchFacts facts_;
    std::uint64_t shared_bytes_ = 0;  ///< of a block
    SmUnits units_;
    std::vector<ResidentWarp*> warps_;
    std::vector<std::uint32_t> free_warps_;
    std::vector<Block> blocks_;  ///< never grows beyond what is reserved
    std::vector<std::uint32_t> free_blocks_;
    std::uint64_t live_warps_ = 0;
    std::uint64_t most_warps_ = 0;  ///< that can be resident at once

private:
    void size_launch();
    void begin();
    void place_initial_blocks();
    bool place_block(std::uint32_t sm, double now);
    /// The block that starts as number `start` of the launch: those of a cluster follow each other.
    [[nodiscard]] std::uint64_t block_of_start(std::uint64_t start) const;

    // ---- clusters (engine_clusters.cpp)
    void check_clusters() const;
    /// Starts clusters as long as a GPC has room for all blocks of one.
    void place_clusters(double now);
    [[nodiscard]] std::vector<std::uint32_t> cluster_groups() const;
    [[nodiscard]] std::vector<std::uint32_t> room_for_cluster() const;
    void start_warp(std::uint32_t block, std::uint32_t in_block, std::uint32_t threads, double now);
    void choose_slot(ResidentWarp& warp, std::uint32_t sm);
    std::uint32_t take_warp();
    std::uint32_t take_block();

    // ---- sampling (engine_sampling.cpp)
    void make_sampler();
    void drain_counters();
    [[nodiscard]] Costs spent_until(double now);
    void choose_next_block(double now);
    void note_end(const Block& block, double now);
    void check_progress() const;
    /// Ends the simulation where what is left can be estimated.
    void look_for_cut(double now);
    LaunchTime estimate_launch();

    void run_events();
    void run_scheduler(std::uint32_t index, double now);
    void issue_from(std::uint32_t index, std::size_t position, double now);
    [[nodiscard]] double next_event(std::uint32_t index);
    void post(std::uint32_t scheduler);

    void check_limits();
    [[noreturn]] void report_deadlock() const;

    EventQueue events_;
    double latest_ = 0;                          ///< the launch is not over before
    std::vector<std::uint32_t> cluster_groups_;  ///< SMs of each group that clusters do not leave
    bool loads_ = false;                         ///< from global memory
    double latest_store_ = 0;                    ///< the last store has left its SM
    std::optional<BlockSampler> sampler_;
    std::optional<LaunchCut> cut_;
    std::optional<LaunchEstimate> estimate_;  ///< of a launch whose simulation has ended within its blocks
    std::vector<costs::BlockSpan> timeline_;  ///< of the first SM
    double longest_block_ = 0;                ///< cycles of a block that has ended
    std::uint64_t furthest_block_ = 0;        ///< behind all blocks that were started or skipped
    std::uint64_t started_blocks_ = 0;        ///< blocks that have begun
    std::uint64_t issued_since_check_ = 0;
    std::chrono::nanoseconds deadline_;  ///< processor time of this thread
};

}  // namespace gputomo::sim
