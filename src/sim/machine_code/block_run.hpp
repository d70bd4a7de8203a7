// The warps of one block while they execute without timing, round by round.
#pragma once

#include "sim/machine_code/flow.hpp"
#include "sim/machine_code/paths.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/machine_code/unknown_values.hpp"
#include "sim/machine_code/wait_watch.hpp"
#include "sim/machine_code/warp.hpp"
#include "sim/memory/device_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::sim::machine_code {

/// One barrier of a block: the threads that arrived.
struct BlockBarrier {
    std::vector<std::uint32_t> arrived;  ///< by warp
    std::uint64_t repeated = 0;          ///< threads that arrived again before the others
    std::uint64_t expected = 0;          ///< threads; 0 means all of the block
    std::uint32_t votes = 0;             ///< threads whose predicate held
    std::uint32_t voters = 0;
    bool active = false;
    unsigned reduction = 0;
};

/// What the warps of a block did in a round.
struct Round {
    bool executed = false;  ///< any instruction
    /// All warps that executed something poll memory that does not change, and nothing was written.
    bool idle = false;
    double cycles = 0;  ///< of the warp that took longest, as a rough clock counts them
};

/// How far a warp goes in a round.
struct RoundRule {
    int instructions = 0;  ///< at most
    /// Whether it stops after an instruction that reads global memory. What it then does with the value, other blocks
    /// must not see before the time that the read takes has passed.
    bool one_read = false;
    /// Rough cycles of each instruction by its place in the code; empty counts none.
    std::vector<float> cycles;
};

/// What the blocks of a launch share. All of it outlives them.
struct LaunchContext {
    const MachineProgram& program;
    const FunctionalLaunch& launch;
    const DeviceMemory& memory;
    const std::array<std::vector<std::uint32_t>, 8>& constants;
    const VisibleAccesses& accesses;
    Executed& executed;
};

class BlockRun {
public:
    explicit BlockRun(const LaunchContext& context);
    BlockRun(const BlockRun&) = delete;
    BlockRun& operator=(const BlockRun&) = delete;

    /// Begins with a block of the grid, whatever the one before did. The observer sees it from now on.
    void start(std::uint64_t index, Observer* observer, std::uint32_t sm = 0);
    [[nodiscard]] bool done() const;
    /// Lets each warp go on, in order.
    Round round(const RoundRule& rule);

    [[nodiscard]] std::uint64_t index() const { return index_; }
    /// The waits of its warps; empty where FunctionalLaunch::watches_waits is false.
    [[nodiscard]] const std::vector<Wait>& waits() const { return watch_.seen(); }
    /// The most reads in a row of the same values that any warp has made.
    [[nodiscard]] std::uint32_t most_polls() const { return watch_.most_repeated(); }
    /// Where the warps are that wait at barriers.
    [[nodiscard]] std::string deadlock() const;

private:
    [[nodiscard]] Paths& paths() { return paths_[warp_]; }
    [[nodiscard]] Warp& warp() { return *warps_[warp_]; }
    void run_warp(const RoundRule& rule, Round& round);
    /// Whether the path asks for a phase that has not ended, so that its warp waits there.
    [[nodiscard]] bool waits_for_phase(const Path& path);
    [[nodiscard]] std::string where(std::size_t step) const;
    void execute(const Path& path);
    void follow_or_name(const Step& step, std::size_t at, std::uint32_t mask);
    void follow(const Step& step, std::size_t at, std::uint32_t mask);
    void block_barrier(const Step& step, std::size_t at, std::uint32_t taken);
    [[nodiscard]] bool complete(const BlockBarrier& barrier) const;
    void arrive(std::uint8_t number);
    void arrive_all();

    const MachineProgram& program_;
    const FunctionalLaunch& launch_;
    Executed& executed_;
    std::vector<std::byte> shared_;
    BlockState state_;
    std::uint64_t index_ = 0;
    std::vector<std::unique_ptr<Warp>> warps_;
    std::vector<Paths> paths_;
    std::array<BlockBarrier, kBlockBarriers> barriers_;
    std::size_t warp_ = 0;
    bool patient_ =
        true;  ///< warps wait where they ask for a phase; otherwise they go on as if they had waited in vain
    WaitWatch watch_;
    std::optional<UnknownValues> unknown_;  ///< where products are not computed
};

}  // namespace gputomo::sim::machine_code
