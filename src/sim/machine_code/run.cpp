#include "sim/machine_code/run.hpp"

#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/flow.hpp"
#include "sim/machine_code/launch_state.hpp"
#include "sim/machine_code/paths.hpp"
#include "sim/machine_code/refused_instruction.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>

namespace gputomo::sim::machine_code {
namespace {

/// Instructions after which another path or warp gets its turn. Fewer make switching cost more, more make threads that
/// wait for one another in a loop take longer.
constexpr int kTurn = 2000;

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

class BlockRun {
public:
    BlockRun(const MachineProgram& program, const FunctionalLaunch& launch, const DeviceMemory& memory,
             const std::array<std::vector<std::uint32_t>, 8>& constants, Executed& executed)
        : program_(program),
          launch_(launch),
          executed_(executed),
          shared_(program.shared_bytes + launch.dynamic_shared) {
        state_.program = &program;
        state_.constants = &constants;
        state_.global = &memory;
        state_.shared = shared_;
        state_.textures = launch.textures;
        state_.observer = launch.observer;
        state_.block = {launch.block.x, launch.block.y, launch.block.z};
    }

    void run(const std::array<std::uint32_t, 3>& index) {
        state_.index = index;
        std::ranges::fill(shared_, std::byte{0});
        const auto threads = static_cast<std::uint32_t>(launch_.block.count());
        warps_.clear();
        paths_.clear();
        for (std::uint32_t first = 0; first < threads; first += kWarpSize) {
            const std::uint32_t count = std::min<std::uint32_t>(threads - first, kWarpSize);
            const std::uint32_t lanes = count == kWarpSize ? kAllLanes : (1U << count) - 1;
            warps_.push_back(std::make_unique<Warp>(program_));
            warps_.back()->start(state_, first / kWarpSize, lanes);
            paths_.emplace_back(lanes);
        }
        for (BlockBarrier& barrier : barriers_) barrier = {.arrived = std::vector<std::uint32_t>(warps_.size())};
        while (!std::ranges::all_of(paths_, &Paths::done)) {
            bool progress = false;
            for (warp_ = 0; warp_ < warps_.size(); ++warp_) progress |= run_warp();
            if (!progress) throw DeviceError(deadlock());
        }
    }

private:
    [[nodiscard]] Paths& paths() { return paths_[warp_]; }
    [[nodiscard]] Warp& warp() { return *warps_[warp_]; }

    /// Whether anything was executed.
    bool run_warp() {
        bool progress = false;
        if (launch_.observer != nullptr) launch_.observer->turn(warp_);
        for (int i = 0; i < kTurn; ++i) {
            Path* const path = paths().current();
            if (path == nullptr) return progress;
            progress = true;
            execute(*path);
        }
        paths().rotate();
        return progress;
    }

    std::string where(std::size_t step) const {
        return fmt::format("kernel '{}': block ({}, {}, {}), warp {}: {}", program_.kernel, state_.index[0],
                           state_.index[1], state_.index[2], warp_, text_of(program_, step));
    }

    void execute(const Path& path) {
        const std::size_t at = path.step;
        const std::uint32_t lanes = path.mask;
        if (at >= program_.steps.size())
            throw DeviceError(fmt::format("kernel '{}': block ({}, {}, {}), warp {} left the code at {:#x}",
                                          program_.kernel, state_.index[0], state_.index[1], state_.index[2], warp_,
                                          at * sass::kInstructionBytes));
        const Step& step = program_.steps[at];
        if (++executed_.total > launch_.instruction_limit)
            throw TimeLimitError(fmt::format("{}: the limit of {} executed warp instructions is reached", where(at),
                                             launch_.instruction_limit));
        ++executed_.warp_instructions[at];
        state_.clock = state_.nanoseconds = executed_.total;
        const std::uint32_t guard = warp().holds({step.guard.predicate, step.guard.uniform, step.guard.invert});
        const std::uint32_t mask = lanes & guard;
        executed_.thread_instructions[at] += static_cast<std::uint64_t>(std::popcount(mask));
        if (launch_.observer != nullptr) launch_.observer->execute(at, lanes, mask);
        if (step.flow != Flow::next) {
            if (mask == 0)
                paths().split(lanes, at + 1);
            else
                follow_or_name(step, at, mask);
            return;
        }
        paths().current()->step = at + 1;
        if (mask == 0) return;
        try {
            // A uniform instruction is performed once, and its guard holds for all lanes or none.
            step.execute(warp(), step, step.uniform ? 1U : mask);
        } catch (const LaneFault& fault) {
            throw DeviceError(fmt::format("{}, lane {}: {}", where(at), fault.lane(), fault.what()));
        }
    }

    void follow_or_name(const Step& step, std::size_t at, std::uint32_t mask) {
        try {
            follow(step, at, mask);
        } catch (const LaneFault& fault) {
            throw DeviceError(fmt::format("{}, lane {}: {}", where(at), fault.lane(), fault.what()));
        }
    }

    /// Performs an instruction that decides where threads go. `mask` are the lanes of the path whose guard holds.
    void follow(const Step& step, std::size_t at, std::uint32_t mask) {
        const std::uint32_t taken = taken_lanes(warp(), step, mask);
        switch (step.flow) {
            case Flow::block_barrier: block_barrier(step, at, taken); break;
            case Flow::trap:
                throw DeviceError(fmt::format("{}: the kernel stopped itself (trap or failed assertion)", where(at)));
            case Flow::refused:
                throw RefusedInstruction(
                    fmt::format("{} cannot be executed: {}. Report this instruction", where(at), step.refusal));
            default:
                machine_code::follow(warp(), paths(), step, at, taken);
                if (step.flow == Flow::exit) arrive_all();
        }
    }

    void block_barrier(const Step& step, std::size_t at, std::uint32_t taken) {
        const BarrierUse use = barrier_use_of(warp(), step, taken);
        BlockBarrier& barrier = barriers_[use.number];
        barrier.expected = use.expected;
        barrier.active = true;
        barrier.repeated += static_cast<std::uint64_t>(std::popcount(barrier.arrived[warp_] & taken));
        barrier.arrived[warp_] |= taken;
        if (use.mode == BarrierUse::Mode::reduce) {
            barrier.reduction = use.reduction;
            barrier.votes += static_cast<std::uint32_t>(std::popcount(use.votes));
            barrier.voters += static_cast<std::uint32_t>(std::popcount(taken));
        }
        if (use.mode == BarrierUse::Mode::arrive) {
            paths().current()->step = at + 1;
        } else {
            separate(paths(), taken, at);
            paths().wait(Path::State::block_barrier, static_cast<std::uint8_t>(use.number), 0, at + 1);
        }
        arrive(static_cast<std::uint8_t>(use.number));
    }

    /// Whether all threads have arrived that the barrier waits for. Threads that ended count as if they had.
    [[nodiscard]] bool complete(const BlockBarrier& barrier) const {
        std::uint64_t arrived = barrier.repeated;
        for (std::size_t w = 0; w < warps_.size(); ++w) {
            const std::uint32_t gone = paths_[w].exited() | ~warps_[w]->lanes;
            const bool whole = (barrier.arrived[w] | gone) == kAllLanes;
            if (barrier.expected == 0 && !whole) return false;
            // A count is in whole warps: one with fewer threads counts as whole when all of them are there.
            if (barrier.arrived[w] != 0)
                arrived += whole ? kWarpSize : static_cast<std::uint64_t>(std::popcount(barrier.arrived[w]));
        }
        return barrier.expected == 0 || arrived >= barrier.expected;
    }

    void arrive(std::uint8_t number) {
        BlockBarrier& barrier = barriers_[number];
        if (!barrier.active || !complete(barrier)) return;
        const std::uint32_t result = barrier_result(barrier.reduction, barrier.votes, barrier.voters);
        for (std::size_t w = 0; w < warps_.size(); ++w) {
            if (barrier.arrived[w] == 0) continue;
            warps_[w]->barrier_result = result;
            paths_[w].release_block_barrier(number);
        }
        barrier = {.arrived = std::vector<std::uint32_t>(warps_.size())};
    }

    void arrive_all() {
        for (std::uint8_t number = 0; number < kBlockBarriers; ++number) arrive(number);
    }

    std::string deadlock() {
        std::string text = fmt::format("kernel '{}': block ({}, {}, {}): no warp can go on:", program_.kernel,
                                       state_.index[0], state_.index[1], state_.index[2]);
        for (std::size_t w = 0; w < paths_.size(); ++w)
            for (const Path& path : paths_[w].all())
                text += fmt::format(" warp {} lanes {:#010x} wait at {};", w, path.mask,
                                    text_of(program_, path.step == 0 ? 0 : path.step - 1));
        return text;
    }

    const MachineProgram& program_;
    const FunctionalLaunch& launch_;
    Executed& executed_;
    std::vector<std::byte> shared_;
    BlockState state_;
    std::vector<std::unique_ptr<Warp>> warps_;
    std::vector<Paths> paths_;
    std::array<BlockBarrier, kBlockBarriers> barriers_;
    std::size_t warp_ = 0;
};

}  // namespace

Executed run(const MachineProgram& program, const FunctionalLaunch& launch, const DeviceMemory& memory) {
    if (launch.block.count() == 0 || launch.block.count() > 1024 || launch.grid.count() == 0)
        throw InputError(
            fmt::format("kernel '{}': a grid of {} blocks of {} threads; expected at least one block of 1 "
                        "to 1024 threads",
                        program.kernel, launch.grid.count(), launch.block.count()));
    if (program.uses_grid_barrier)
        throw DeviceError(
            fmt::format("kernel '{}' cannot be executed block by block: its blocks wait for one another. Simulate it "
                        "with timing instead",
                        program.kernel));
    const auto constants = constants_of(program, launch.grid, launch.block, launch.parameters);
    Executed executed;
    executed.warp_instructions.resize(program.steps.size());
    executed.thread_instructions.resize(program.steps.size());
    BlockRun block(program, launch, memory, constants, executed);
    const auto run_block = [&](std::uint64_t index) {
        if (index >= launch.grid.count())
            throw InputError(fmt::format("kernel '{}': block {} was asked for; the grid has {}", program.kernel, index,
                                         launch.grid.count()));
        block.run({static_cast<std::uint32_t>(index % launch.grid.x),
                   static_cast<std::uint32_t>(index / launch.grid.x % launch.grid.y),
                   static_cast<std::uint32_t>(index / launch.grid.x / launch.grid.y)});
        return launch.observer == nullptr || launch.observer->end_block(index);
    };
    const std::uint64_t count = launch.blocks.empty() ? launch.grid.count() : launch.blocks.size();
    for (std::uint64_t i = 0; i < count; ++i)
        if (!run_block(launch.blocks.empty() ? i : launch.blocks[i])) break;
    return executed;
}

std::map<std::string, std::uint64_t> by_operation(const MachineProgram& program, const Executed& executed) {
    std::map<std::string, std::uint64_t> counts;
    for (std::size_t i = 0; i < program.steps.size(); ++i)
        if (executed.warp_instructions[i] != 0)
            counts[std::string(sass::name_of(program.steps[i].instruction.operation))] += executed.warp_instructions[i];
    return counts;
}

}  // namespace gputomo::sim::machine_code
