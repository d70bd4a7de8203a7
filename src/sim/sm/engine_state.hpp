// The state of a running launch; engine.cpp schedules it, issue.cpp and memory_access.cpp execute it.
#pragma once

#include "sim/sm/coalescer.hpp"
#include "sim/sm/engine.hpp"
#include "sim/sm/shared_banks.hpp"
#include "sim/sm/warp.hpp"

#include <chrono>
#include <limits>
#include <optional>
#include <queue>
#include <string>

namespace gputomo::sim {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

class Engine {
public:
    Engine(const LaunchSetup& setup, Counters& counters);
    double run();

private:
    /// What of the machine description the SM needs at each step.
    struct Rules {
        double issue_interval = 1;
        double ilp_latency = 0;
        std::uint32_t issue_width = 1;
        std::size_t load_limit = 0;      ///< outstanding loads of a warp; 0: no limit
        double barrier_latency = 0;
        bool barrier_counts_threads = false;
        double clock_cost = 0;
        std::int64_t clock_resolution = 1;
        double block_replacement = 0;
        bool fetches = false;
        std::uint64_t fetch_line = 0;
        double fetch_hidden = 0;         ///< latency of a first-level hit, which pipelining hides
        std::uint64_t instruction_bytes = 8;
    };
    static Rules rules_of(const machine::Machine& machine);

    // ---- blocks (engine.cpp)
    void place_initial_blocks();
    bool place_block(std::uint32_t sm, double now);
    void start_warp(std::uint32_t block, std::uint32_t in_block, std::uint32_t threads, double now);
    void end_warp(std::uint32_t warp, double now);
    std::uint32_t take_warp();

    // ---- scheduling (engine.cpp)
    void run_scheduler(std::uint32_t index, double now);
    [[nodiscard]] double candidate(const Warp& warp) const;
    [[nodiscard]] double next_event(const Scheduler& scheduler) const;
    void post(std::uint32_t scheduler);
    void prepare(Warp& warp, double now);
    void fetch(Warp& warp, double now);
    void check_time_limit();
    [[noreturn]] void report_deadlock() const;

    // ---- execution (issue.cpp)
    void issue(std::uint32_t warp_index, double now);
    std::uint32_t active_lanes(const Warp& warp, const Operation& op) const;
    double occupy_unit(Warp& warp, const Operation& op, double now);
    void issue_arithmetic(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_special(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_branch(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_barrier(std::uint32_t warp_index, const Operation& op, std::uint32_t mask, double now);
    void open_if_complete(Block& block, std::uint32_t barrier);
    [[nodiscard]] std::uint64_t special_value(const Warp& warp, ptx::SpecialRegister which, int lane, double now) const;

    // ---- memory (memory_access.cpp)
    void issue_memory(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_texture(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    /// Where the lanes' data lie on the host; throws DeviceError for a bad address. Sets `is_shared` for generic addresses.
    void resolve(Warp& warp, const Operation& op, std::uint32_t mask, bool& is_shared);
    void move_data(Warp& warp, const Operation& op, std::uint32_t mask);
    double time_global(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    double time_shared(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void loaded(Warp& warp, const Operation& op, double when);

    [[noreturn]] void fail(const Warp& warp, const Operation& op, int lane, const std::string& what) const;
    [[nodiscard]] std::string where(const Warp& warp) const;
    Warp& warp_at(std::uint32_t index) { return warps_[index]; }
    void set_ready(Warp& warp, std::uint16_t slot, double when) {
        if (slot != kNoSlot) warp.ready[slot] = when;
    }

    const LaunchSetup& setup_;
    const Program& program_;
    Counters& counters_;
    Rules rules_;
    SharedBanks banks_;
    Coalescer global_coalescer_;
    Coalescer texture_coalescer_;
    Coalescer constant_coalescer_;
    std::vector<std::byte> parameters_;
    std::uint64_t shared_bytes_ = 0;
    int blocks_per_sm_ = 0;
    std::uint64_t next_block_ = 0;
    std::uint64_t live_warps_ = 0;
    double latest_ = 0;

    std::vector<Sm> sms_;
    std::vector<Scheduler> schedulers_;
    std::vector<Warp> warps_;
    std::vector<std::uint32_t> free_warps_;
    std::vector<Block> blocks_;
    using Event = std::pair<double, std::uint32_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;

    // scratch of the access in hand
    std::array<std::uint64_t, 32> addresses_{};
    std::array<std::byte*, 32> data_{};

    std::uint64_t issued_since_check_ = 0;
    std::chrono::steady_clock::time_point deadline_;
};

}  // namespace gputomo::sim
