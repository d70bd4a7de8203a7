// Executes blocks one after another.
#include "sim/machine_code/run.hpp"

#include "sass/form.hpp"
#include "sim/machine_code/block_run.hpp"
#include "sim/machine_code/launch_state.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

namespace gputomo::sim::machine_code {
namespace {

/// Instructions after which another path or warp gets its turn. Fewer make switching cost more, more make threads that
/// wait for one another in a loop take longer.
constexpr int kTurn = 2000;
/// Rounds in which nothing changes after which a block waits forever. Each path of a warp, of which there are 32 at
/// most, has its turn in them.
constexpr int kIdleRounds = 33;

void run_block(const MachineProgram& program, const FunctionalLaunch& launch, BlockRun& block) {
    int idle = 0;
    while (!block.done()) {
        const Round round = block.round({.instructions = kTurn, .cycles = {}});
        if (!round.executed) throw DeviceError(block.deadlock());
        idle = round.idle ? idle + 1 : 0;
        const bool polls = launch.most_polls > 0 && block.most_polls() >= launch.most_polls;
        const Wait* const wait = most_certain(block.waits());
        if ((idle >= kIdleRounds || polls) && wait != nullptr)
            throw WaitsForever(
                fmt::format("kernel '{}': {}, and nothing changes it", program.kernel, text_of(program, *wait)), *wait);
    }
}

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
    if (program.cluster[0] * program.cluster[1] * program.cluster[2] > 1)
        throw DeviceError(
            fmt::format("kernel '{}' cannot be executed block by block: its blocks are in clusters. Simulate it with "
                        "timing instead",
                        program.kernel));
    const auto constants = constants_of(program, {.grid = launch.grid,
                                                  .block = launch.block,
                                                  .parameters = launch.parameters,
                                                  .dynamic_shared = launch.dynamic_shared,
                                                  .sms = launch.gpu.sms});
    const auto accesses = visible_accesses(program);
    Executed executed;
    executed.warp_instructions.resize(program.steps.size());
    executed.thread_instructions.resize(program.steps.size());
    executed.further_values.resize(program.steps.size());
    BlockRun block({program, launch, memory, constants, accesses, executed});
    const std::uint64_t count = launch.blocks.empty() ? launch.grid.count() : launch.blocks.size();
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t index = launch.blocks.empty() ? i : launch.blocks[i];
        block.start(index, launch.observer);
        run_block(program, launch, block);
        add_waits(executed.waits, block.waits());
        if (launch.observer != nullptr && !launch.observer->end_block(index)) break;
    }
    return executed;
}

std::string text_of(const MachineProgram& program, const Wait& wait) {
    return fmt::format("warp {} of block {} reads {} {:#x} again and again ({})", wait.warp, wait.block,
                       wait.shared ? "shared memory at" : "memory at", wait.address, text_of(program, wait.step));
}

std::map<std::string, std::uint64_t> by_operation(const MachineProgram& program, const Executed& executed) {
    std::map<std::string, std::uint64_t> counts;
    for (std::size_t i = 0; i < program.steps.size(); ++i)
        if (executed.warp_instructions[i] != 0)
            counts[std::string(sass::name_of(program.steps[i].instruction.operation))] += executed.warp_instructions[i];
    return counts;
}

}  // namespace gputomo::sim::machine_code
