// The state of a running launch. launch.cpp sets it up and places blocks, engine.cpp schedules, issue.cpp, barriers.cpp
// and memory_access.cpp execute, report.cpp says where warps are.
#pragma once

#include "sim/sm/coalescer.hpp"
#include "sim/sm/engine.hpp"
#include "sim/sm/operand_banks.hpp"
#include "sim/sm/shared_banks.hpp"
#include "sim/sm/warp.hpp"

#include <chrono>
#include <limits>
#include <queue>
#include <string>

namespace gputomo::sim {

/// Of this thread: a simulated launch is limited by the work that it takes, not by what else the host does meanwhile.
[[nodiscard]] std::chrono::nanoseconds processor_time();

inline constexpr double kNever = std::numeric_limits<double>::infinity();

class Engine {
public:
    Engine(const LaunchSetup& setup, Counters& counters);
    double run();

private:
    /// What of the machine description the SM needs at each step.
    struct Rules {
        double issue_interval = 1;
        double warp_interval = 1;  ///< cycles between two independent instructions of one warp
        std::uint32_t issue_width = 1;
        std::size_t load_limit = 0;  ///< outstanding loads of a warp; 0: no limit
        double shared_slots = 1;     ///< issue slots of an access
        double shared_to_cores = 0;  ///< cycles by which what is loaded comes later for the CUDA cores
        std::array<double, kPathNames.size()> path_slots{1, 1, 1, 1, 1};  ///< by PathKind
        std::uint32_t served_per_issue = 0;  ///< transactions or bank-conflict ways that one issue serves; 0: all
        double barrier_latency = 0;
        bool barrier_counts_threads = false;
        double warp_barrier_latency = 0;
        double branch_taken = -1;  ///< cycles to the next instruction; negative: as described for the operation
        double branch_untaken = -1;
        double divergence = -1;  ///< what a branch that splits the warp takes more than one that falls through;
                                 ///< negative: as one that is taken
        OperandBanks operand_banks;
        double clock_cost = 0;
        std::int64_t clock_resolution = 1;
        double cycles_per_ns = 1;
        double block_replacement = 0;
        double block_interval = 0;          ///< cycles between two blocks that the GPU starts
        double warp_start = 0;              ///< cycles between two warps that an SM starts
        bool read_only_is_texture = false;  ///< ld.global.nc takes the texture path
        bool fetches = false;
        std::uint64_t fetch_block = 0;
        std::uint64_t fetch_line = 0;
        std::uint64_t prefetch_lines = 0;
        double fetch_hidden = 0;  ///< latency of a first-level hit, which pipelining hides
        std::uint64_t instruction_bytes = 8;
    };
    static Rules rules_of(const machine::Machine& machine);
    struct Coalescers {
        Coalescer near;
        Coalescer far;
        Coalescers(const machine::Machine& machine, const std::string& path)
            : near(machine, path), far(machine, path, Coalescer::From::far) {}
    };

    // ---- launch and blocks (launch.cpp)
    void size_launch();
    void find_resources();
    void place_initial_blocks();
    bool place_block(std::uint32_t sm, double now);
    void start_warp(std::uint32_t block, std::uint32_t in_block, std::uint32_t threads, double now);
    void end_warp(std::uint32_t warp, double now);
    std::uint32_t take_warp();
    std::uint32_t take_block();

    // ---- scheduling (engine.cpp)
    void run_scheduler(std::uint32_t index, double now);
    void look_at_resources(Scheduler& scheduler);
    /// When a unit that this scheduler feeds can take a warp.
    [[nodiscard]] double& unit_free(Scheduler& scheduler, std::uint16_t unit) {
        return setup_.costs.is_shared(unit) ? sms_[scheduler.sm].unit_free[unit] : scheduler.unit_free[unit];
    }
    [[nodiscard]] static std::size_t choose(const Scheduler& scheduler, double now);
    void issue_from(std::uint32_t index, std::size_t position, double now);
    [[nodiscard]] bool can_pair(const Operation& first, const Warp& warp, double now);
    [[nodiscard]] double next_event(Scheduler& scheduler);
    void post(std::uint32_t scheduler);
    void prepare(Warp& warp, double now);
    void wait_for_scoreboard(Warp& warp, double& when) const;
    void fetch(Warp& warp, double now);

    // ---- execution (issue.cpp)
    void issue(std::uint32_t warp_index, double now);
    void execute(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    [[nodiscard]] std::uint32_t active_lanes(const Warp& warp, const Operation& op) const;
    double occupy_unit(const Warp& warp, const Operation& op, double now);
    void issue_arithmetic(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    static void compute_by_members(Warp& warp, const Operation& op, std::uint32_t mask);
    void issue_special(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_branch(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_indexed_branch(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_exit(Warp& warp, std::uint32_t mask);
    void issue_sleep(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    [[nodiscard]] std::uint64_t special_value(const Warp& warp, ptx::SpecialRegister which, int lane, double now) const;

    // ---- barriers (barriers.cpp)
    void issue_barrier(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_warp_barrier(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    Barrier& barrier_of(const Warp& warp, const Operation& op, std::uint32_t mask, int& number);
    void open_if_complete(Block& block, int number);
    void open_complete_barriers(Block& block);
    void leave_barrier(Warp& warp, int number, const Barrier& barrier, double when);
    [[nodiscard]] std::uint32_t needed_members(const Warp& warp, const Operation& op, std::uint32_t mask) const;
    /// Whether all threads that a .sync instruction names are at it; else the current path waits for them.
    bool members_are_there(Warp& warp, const Operation& op, std::uint32_t mask);
    /// Threads whose guard is false go on alone, because the others may have to wait.
    static bool leave_unguarded(Warp& warp, std::uint32_t mask);

    // ---- memory (memory_access.cpp)
    void issue_memory(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_texture(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    [[nodiscard]] ptx::Space space_of(const Warp& warp, const Operation& op, std::uint32_t mask) const;
    /// Where the lanes' data lie on the host; throws DeviceError for a bad address.
    void resolve(Warp& warp, const Operation& op, ptx::Space space, std::uint32_t mask);
    [[nodiscard]] std::byte* data_at(Warp& warp, ptx::Space space, int lane, std::uint64_t address,
                                     std::uint64_t bytes);
    bool resolve_together(const Operation& op, std::uint32_t mask, std::uint64_t bytes);
    void move_data(Warp& warp, const Operation& op, std::uint32_t mask);
    double time_access(Warp& warp, const Operation& op, ptx::Space space, std::uint32_t mask, double now);
    double time_shared(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    double time_local(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    static Coalescer& coalescer_for(const Operation& op, Coalescers& path);
    double time_transactions(Warp& warp, const Operation& op, Coalescer& coalescer, PathKind path, std::uint32_t mask,
                             double now);
    double walk_segments(const std::vector<Segment>& segments, Transaction& transaction, double now);
    /// Cycles from the issue of a load or store to that of its transaction number `index`.
    [[nodiscard]] double spacing(const Transaction& transaction, std::size_t index) const;
    void reissue(Warp& warp, std::size_t served, double slots, double now);
    void take_slots(Scheduler& scheduler, double slots, double now) const;

    // ---- messages (report.cpp)
    void check_time_limit();
    [[noreturn]] void report_deadlock() const;
    [[noreturn]] void fail(const Warp& warp, const Operation& op, int lane, const std::string& what) const;
    [[nodiscard]] std::string where(const Warp& warp) const;
    [[nodiscard]] std::string where(const Warp& warp, const WarpPath& path) const;

    Warp& warp_at(std::uint32_t index) { return warps_[index]; }
    [[nodiscard]] const Operation& operation_at(const Warp& warp) const {
        return program_.operations[warp.paths.current().pc];
    }
    static void set_ready(Warp& warp, const Operation& op, double when) {
        for (std::uint8_t i = 0; i < op.write_count; ++i)
            warp.ready[op.writes[i]] = warp.ready_for_cores[op.writes[i]] = when;
    }
    /// A result that comes `later` for the CUDA cores.
    static void set_ready(Warp& warp, const Operation& op, double when, double later) {
        set_ready(warp, op, when);
        if (later == 0) return;
        for (std::uint8_t i = 0; i < op.write_count; ++i) warp.ready_for_cores[op.writes[i]] = when + later;
    }

    const LaunchSetup& setup_;
    const Program& program_;
    Counters& counters_;
    Rules rules_;
    SharedBanks banks_;
    Coalescers global_;
    Coalescers local_;
    Coalescer texture_;
    Coalescer constant_;
    std::vector<std::byte> parameters_;
    std::uint64_t shared_bytes_ = 0;
    std::uint32_t blocks_per_sm_ = 0;
    std::uint32_t warps_per_block_ = 0;
    std::uint64_t next_block_ = 0;
    double next_block_start_ = 0;  ///< when the GPU can start another one
    std::uint64_t live_warps_ = 0;
    std::uint64_t requests_ = 0;
    double latest_ = 0;

    /// What an instruction may have to find free: 0 nothing, 1 the banks of shared memory, from 2 on any unit of a set.
    static constexpr std::uint16_t kNoResource = 0, kSharedBanks = 1, kFirstUnitSet = 2;
    std::vector<std::vector<std::uint16_t>> unit_sets_;
    std::vector<std::uint16_t> resources_;     ///< by operation
    std::vector<std::uint8_t> on_cores_;       ///< by operation: whether it runs on the CUDA cores
    std::vector<std::uint8_t> operand_waits_;  ///< by operation: further issue slots

    std::vector<Sm> sms_;
    std::vector<Scheduler> schedulers_;
    std::vector<Warp> warps_;  ///< never grows beyond what is reserved, so references hold
    std::vector<std::uint32_t> free_warps_;
    std::vector<Block> blocks_;  ///< likewise
    std::vector<std::uint32_t> free_blocks_;
    /// Time, last issue, scheduler: of those that can issue at once, the one that did so longest ago comes first. What
    /// schedulers share (banks of shared memory, the path to memory) is so given to them in turn.
    using Event = std::tuple<double, double, std::uint32_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;

    // scratch of the access in hand
    std::array<std::uint64_t, 32> addresses_{};
    std::array<std::byte*, 32> data_{};

    std::uint64_t issued_since_check_ = 0;
    std::chrono::nanoseconds deadline_;  ///< of processor_time()
};

}  // namespace gputomo::sim
