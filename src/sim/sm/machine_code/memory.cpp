// Machine code: loads, stores, atomics, constants and asynchronous copies.
#include "sass/form.hpp"
#include "sim/sm/machine_code/sass_engine.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace gputomo::sim {
namespace {

using ptx::Space;
using sass::Modifier;
using Opcode = sass::Operation;

Space space_named(sass::MemorySpace space) {
    switch (space) {
        case sass::MemorySpace::shared: return Space::shared;
        case sass::MemorySpace::local: return Space::local;
        case sass::MemorySpace::constants: return Space::constant;
        case sass::MemorySpace::generic: return Space::generic;
        case sass::MemorySpace::global: break;
    }
    return Space::global;
}

AccessKind access_named(sass::Access access) {
    switch (access) {
        case sass::Access::store: return AccessKind::store;
        case sass::Access::atomic:
        case sass::Access::reduction: return AccessKind::atomic;
        case sass::Access::load: break;
    }
    return AccessKind::load;
}

bool accesses_barrier(const machine_code::Step& step) {
    return step.instruction.form->facts->what == sass::Class::shared_barrier;
}

/// The way of constants to an SM, which code may share.
struct NearPort {
    MemorySystem& memory;
    std::uint32_t sm;
    double bytes;
    [[nodiscard]] double reserve(double now) const { return memory.pass_near(PathKind::constant, sm, bytes, now); }
};

}  // namespace

void SassEngine::find_accesses() {
    rows_.assign(program_.steps.size(), machine_code::kAllLanes);
    for (std::size_t at = 0; at < program_.steps.size(); ++at) {
        const Step& step = program_.steps[at];
        const sass::Instruction& instruction = step.instruction;
        MemoryInstruction access;
        if (instruction.form != nullptr) {
            const sass::Facts& facts = *instruction.form->facts;
            access = {.kind = access_named(facts.access),
                      .space = space_named(facts.space),
                      .bytes = step.bytes,
                      .element_bytes = step.bytes,
                      .texture = machine_code::fetches_texels(step),
                      .skips_near = machine_code::skips_near(instruction),
                      .prefetched = machine_code::prefetched_bytes(instruction),
                      .uniform = step.uniform,
                      .atomic_class = machine_code::atomic_class_of(step),
                      .sums_lanes = machine_code::sums_lanes(step),
                      .one_of_bank = machine_code::swaps_one_of_bank(step)};
            // LDSM and STSM: as many lanes name rows as there are in their matrices.
            if (instruction.has(Modifier::matrix_count))
                rows_[at] = static_cast<std::uint32_t>((std::uint64_t{1} << (8 * step.mode)) - 1);
        }
        accesses_.push_back(access);
    }
}

bool SassEngine::sees_own_cache_beside_atomics() const {
    const auto any = [this](AccessKind kind) {
        return std::ranges::any_of(accesses_, [kind](const MemoryInstruction& access) {
            const bool global = access.space == Space::global || access.space == Space::generic;
            const bool near = kind == AccessKind::atomic || !access.skips_near;
            return global && access.kind == kind && !access.texture && near;
        });
    };
    return any(AccessKind::atomic) && any(AccessKind::load);
}

MemoryInstruction SassEngine::space_of(const MemoryInstruction& instruction, std::uint32_t mask) {
    MemoryInstruction found = instruction;
    if (found.space != Space::generic) return found;
    auto& addresses = block_state_of_warp_.addresses;
    const std::uint64_t first = addresses[static_cast<std::size_t>(std::countr_zero(mask))];
    std::uint64_t window = 0;
    found.space = Space::global;
    if (first - kSharedWindow < machine_code::kClusterWindowSize) found.space = Space::shared, window = kSharedWindow;
    if (first - kLocalWindow < kWindowSize) found.space = Space::local, window = kLocalWindow;
    for (auto& address : addresses) address -= window;
    return found;
}

AccessTimes SassEngine::access_memory(Warp& warp, std::size_t at, std::uint32_t mask, double now,
                                      std::vector<SentAtomic>* sent) {
    block_state_of_warp_.addresses = warp.state.block->addresses;
    counters_.swaps += std::exchange(warp.state.block->swaps, 0);
    counters_.failed_swaps += std::exchange(warp.state.block->failed_swaps, 0);
    const Step& step = program_.steps[at];
    // A uniform instruction leaves its address in the first lane.
    mask = step.uniform ? 1 : mask & rows_[at];
    const MemoryInstruction instruction = space_of(accesses_[at], mask);
    const auto number = static_cast<std::uint32_t>(&warp - of_warps_.data());
    const AccessTimes times = time_access(
        warp, number,
        {.instruction = instruction, .addresses = block_state_of_warp_.addresses, .mask = mask, .sent = sent},
        program_.local_bytes, now);
    if (sent != nullptr) return times;
    double written = times.done;
    if (!accesses_barrier(step)) written = at_other_blocks(warp, instruction, mask, now, written);
    if (instruction.kind != AccessKind::store || instruction.space == Space::shared || !fence_spec_.described)
        warp.memory_done = std::max(warp.memory_done, written);
    else
        warp.stored = std::max(warp.stored, written);
    if (instruction.kind == AccessKind::store && instruction.space == Space::shared)
        warp.shared_stored = std::max(warp.shared_stored, written);
    const bool uses_barrier = accesses_barrier(step);
    if (uses_barrier) {
        if (machine_code::checks_phase(step)) written += units_.bulk_copies.spec.check;
        written = std::max(written, use_barrier(warp, step, mask, now));
    }
    // The operands are read when the last transaction has left.
    // The CUDA cores get data later; the result of a check is no data.
    complete(warp, at, std::max(times.warp_free, now + units_.scheduler_spec.issue_interval), written,
             uses_barrier ? 0 : times.later_for_cores);
    if (!uses_barrier) return times;
    if (machine_code::tries_to_wait(step))
        wait_for_phase(warp, at, mask);
    else if (!machine_code::checks_phase(step)) {
        // A check of a waiting warp of this block leaves what it reaches in the same place.
        const auto reached = warp.state.block->reached;
        for_lanes(mask, [&](int lane) { check_waiters(reached[static_cast<std::size_t>(lane)]->resident, now); });
    }
    return times;
}

double SassEngine::constant_there(const Warp& warp, std::uint32_t place, double now) {
    const NearPort port{setup_.memory_system, units_.schedulers[warp.scheduler].sm, constant_line_};
    return constant_operands_[warp.scheduler].there(place, port, now);
}

void SassEngine::access_constant(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now) {
    const std::uint32_t lanes = step.uniform ? 1U : mask;
    auto& addresses = block_state_of_warp_.addresses;
    for_lanes(lanes, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        addresses[l] = kernel_.bank_address[step.bank] + warp.state.block->addresses[l];
    });
    const auto number = static_cast<std::uint32_t>(&warp - of_warps_.data());
    const AccessTimes times =
        time_access(warp, number, {.instruction = accesses_[at], .addresses = addresses, .mask = lanes}, 0, now);
    complete(warp, at, std::max(times.warp_free, now + units_.scheduler_spec.issue_interval), times.done);
}

/// A barrier in shared memory changes when an arrival issues, but checks see it later. What arrives with asynchronous
/// copies is there later still: a check that finds the phase ended reads the barrier then. Returns when the result of
/// the instruction is there.
double SassEngine::use_barrier(Warp& warp, const Step& step, std::uint32_t mask, double now) {
    const machine_code::BlockState& state = *warp.state.block;
    double when = now;
    const bool checks = machine_code::checks_phase(step);
    if (checks) mask &= warp.state.holds(step.predicate_out[0]);
    for_lanes(mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const machine_code::BlockState* const reached = step.uniform ? state.reached.front() : state.reached[l];
        auto& complete_at = barriers_complete_[reached->resident];
        if (checks) {
            const auto found = complete_at.find(state.addresses[l]);
            if (found != complete_at.end()) when = std::max(when, found->second + units_.bulk_copies.spec.checked);
            return;
        }
        double arrives = now + units_.bulk_copies.spec.arrival;
        if (step.instruction.operation == Opcode::ARRIVES) arrives = std::max(arrives, warp.copies_done);
        if (reached != &state) arrives += units_.bulk_copies.spec.signal;
        double& at = complete_at[state.addresses[l]];
        at = std::max(at, arrives);
    });
    return when;
}

/// Texels that a filter reads beside another one of their row are taken to come with it.
void SassEngine::fetch_texture(Warp& warp, std::size_t at, std::uint32_t mask, double now) {
    const auto number = static_cast<std::uint32_t>(&warp - of_warps_.data());
    const auto& texels = warp.state.block->texels;
    MemoryInstruction instruction = accesses_[at];
    instruction.bytes = instruction.element_bytes = warp.state.block->texel_bytes;
    instruction.fetches = fetches_of(units_.load_store.spec.ports[static_cast<std::size_t>(PathKind::texture)],
                                     machine_code::dimensions_of_fetch(program_.steps[at]), instruction.bytes);
    auto& addresses = block_state_of_warp_.addresses;
    double done = now + units_.scheduler_spec.issue_interval, free = done;
    for (std::size_t row = 0; row < texels.front().addresses.size(); row += 2) {
        std::uint32_t reads = 0;
        for_lanes(mask, [&](int lane) {
            const auto l = static_cast<std::size_t>(lane);
            if (row >= texels[l].count) return;
            reads |= 1U << lane;
            addresses[l] = texels[l].addresses[row];
        });
        if (reads == 0) break;
        const AccessTimes times =
            time_access(warp, number, {.instruction = instruction, .addresses = addresses, .mask = reads}, 0, now);
        done = std::max(done, times.done);
        free = std::max(free, times.warp_free);
        instruction.fetches = 0;  // further rows take the time of their transactions only
    }
    warp.memory_done = std::max(warp.memory_done, done);
    complete(warp, at, free, done);
}

/// LDGSTS loads from global memory and stores what it loaded to shared memory. A thread whose predicate does not hold
/// loads nothing, and its address need not exist.
void SassEngine::copy_async(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now) {
    const auto number = static_cast<std::uint32_t>(&warp - of_warps_.data());
    MemoryInstruction instruction = accesses_[at];
    const auto& state = *warp.state.block;
    const std::uint32_t loads = step.predicate_count > 0 ? mask & warp.state.holds(step, 0) : mask;
    AccessTimes times;
    double loaded = now;
    if (loads != 0) {
        times = time_access(warp, number, {.instruction = instruction, .addresses = state.addresses, .mask = loads}, 0,
                            now);
        loaded = times.done;
    }
    instruction.kind = AccessKind::store;
    instruction.space = Space::shared;
    times = time_access(warp, number, {.instruction = instruction, .addresses = state.shared_addresses, .mask = mask},
                        0, now);
    warp.copies_done = std::max({warp.copies_done, loaded, times.done});
    warp.memory_done = std::max(warp.memory_done, warp.copies_done);
    complete(warp, at, std::max(times.warp_free, now + units_.scheduler_spec.issue_interval), warp.copies_done);
}

/// A fence of the GPU's scope or wider waits for the warp's loads, and asks whether its stores have arrived. One of the
/// block waits for nothing, because an SM performs the accesses of a thread in order.
void SassEngine::wait_at_fence(Warp& warp, sass::FenceScope scope, double now) {
    if (!fence_spec_.described || scope == sass::FenceScope::block) return;
    const double cycles = scope == sass::FenceScope::system ? fence_spec_.system : fence_spec_.gpu;
    warp.hold = std::max(warp.hold, fence_spec_.end(cycles, now, warp.memory_done, warp.stored));
    warp.stored = 0;
}

/// DEPBAR and WARPGROUP.DEPBAR wait until a barrier has at most the given number of instructions left, and until others
/// are released.
void SassEngine::wait_for_barriers(Warp& warp, const Step& step, double now) {
    const BarrierWait wait = barrier_wait(step.instruction);
    double when = warp.barriers.released(wait.others, false, now);
    if (wait.barrier >= 0) when = warp.barriers.at_most(static_cast<std::size_t>(wait.barrier), wait.left, when);
    warp.hold = std::max(warp.hold, when);
}

// ---- what other blocks have written --------------------------------------------------------------------------------

namespace {

/// Loads and atomics that return what other blocks have written.
bool reads_shared_state(const sass::Instruction& instruction) {
    const sass::Facts& facts = *instruction.form->facts;
    const bool reaches_global = facts.space == sass::MemorySpace::global || facts.space == sass::MemorySpace::generic;
    if (facts.what != sass::Class::memory || !reaches_global) return false;
    if (facts.access == sass::Access::load) return machine_code::skips_near(instruction);
    if (facts.access != sass::Access::atomic) return false;
    const auto operands = instruction.operands();
    const auto result = std::ranges::find(operands, sass::OperandKind::reg, &sass::Operand::kind);
    return result != operands.end() && result->reg != sass::kZeroRegister;
}

}  // namespace

bool sees_other_blocks(const machine_code::MachineProgram& program) {
    return program.uses_grid_barrier || std::ranges::any_of(program.steps, [](const machine_code::Step& step) {
               return step.instruction.form != nullptr && reads_shared_state(step.instruction);
           });
}

}  // namespace gputomo::sim
