// Executes PTX: its instructions on the units of the SMs.
#pragma once

#include "sim/exec/data_access.hpp"
#include "sim/exec/program.hpp"
#include "sim/sm/engine/engine.hpp"
#include "sim/sm/ptx/warp_paths.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::sim {

/// What an instruction asks of the units, the same each time it issues.
struct IssueNeeds {
    Resource resource = kNoResource;
    bool on_cores = false;  ///< runs on the CUDA cores
};

class PtxEngine final : public Engine {
public:
    PtxEngine(const LaunchSetup& setup, const LoadedKernel& kernel, Counters& counters);

private:
    struct Warp : ResidentWarp {
        Warp(Divergence divergence, bool taken_first) : paths(divergence, taken_first) {}
        WarpPaths paths;
        std::vector<LaneValues> registers;
        std::vector<std::byte> local;  ///< frames of the 32 threads, one after the other
        Scoreboard scoreboard;
        std::uint32_t step = 0;  ///< machine instructions issued so far of an operation that takes several
    };
    [[nodiscard]] static Warp& of(ResidentWarp& warp) { return static_cast<Warp&>(warp); }
    [[nodiscard]] static const Warp& of(const ResidentWarp& warp) { return static_cast<const Warp&>(warp); }

    ResidentWarp& make_warp() override;
    void begin_warp(ResidentWarp& warp, std::uint32_t lanes, double now) override;
    void prepare_next(ResidentWarp& warp, double now) override { prepare(of(warp), now); }
    void issue_next(std::uint32_t warp, double now) override;
    [[nodiscard]] std::uint32_t live_threads(const ResidentWarp& warp) const override;
    void leave_barrier(ResidentWarp& warp, int number, const BarrierRelease& release) override;
    [[nodiscard]] std::string where(const ResidentWarp& warp) const override;
    [[nodiscard]] std::string operands_of(const ResidentWarp& warp) const override;

    // ---- instructions (issue.cpp)
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

    // ---- loads, stores, atomics and texture fetches (memory.cpp)
    void issue_memory(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_texture(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    AccessTimes time_memory(Warp& warp, const MemoryInstruction& instruction, std::uint32_t mask, double now);

    // ---- barriers (barriers.cpp)
    void issue_barrier(Warp& warp, const Operation& op, std::uint32_t mask, double now);
    void issue_warp_barrier(Warp& warp, const Operation& op, std::uint32_t mask, double now);

    // ---- messages (ptx_report.cpp)
    [[nodiscard]] std::string failure(const Warp& warp, const Operation& op, int lane, const std::string& what) const;
    [[noreturn]] void fail(const Warp& warp, const Operation& op, int lane, const std::string& what) const;
    [[nodiscard]] std::string where(const Warp& warp, const WarpPath& path) const;

    [[nodiscard]] const Operation& operation_at(const Warp& warp) const {
        return program_.operations[warp.paths.current().pc];
    }

    const LoadedKernel& kernel_;
    const Program& program_;
    std::vector<costs::OperandReads> reads_;  ///< by operation
    std::vector<IssueNeeds> needs_;           ///< by operation
    std::vector<std::byte> parameters_;       ///< of the kernel, packed
    Divergence divergence_ = Divergence::stack;
    bool taken_first_ = true;     ///< a diverged warp runs the threads that take the branch first
    std::vector<Warp> of_warps_;  ///< never grows beyond what is reserved, so references hold
    LaneData lane_data_;          ///< of the memory instruction that issues
};

}  // namespace gputomo::sim
