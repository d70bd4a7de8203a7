#include "sim/machine_code/block_run.hpp"

#include "sass/code.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/launch_state.hpp"
#include "sim/machine_code/refused_instruction.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace gputomo::sim::machine_code {

BlockRun::BlockRun(const LaunchContext& context)
    : program_(context.program),
      launch_(context.launch),
      executed_(context.executed),
      shared_(context.program.shared_bytes + context.launch.dynamic_shared),
      watch_(context.accesses) {
    state_.program = &program_;
    state_.constants = &context.constants;
    state_.global = &context.memory;
    state_.shared = shared_;
    state_.textures = launch_.textures;
    state_.warps_of_sm = launch_.gpu.warps_of_sm;
    state_.block = {launch_.block.x, launch_.block.y, launch_.block.z};
    if (launch_.unknown != nullptr) unknown_.emplace(*launch_.unknown, shared_.size());
}

void BlockRun::start(std::uint64_t index, Observer* observer, std::uint32_t sm) {
    if (index >= launch_.grid.count())
        throw InputError(fmt::format("kernel '{}': block {} was asked for; the grid has {}", program_.kernel, index,
                                     launch_.grid.count()));
    index_ = index;
    if (unknown_) unknown_->start(observer);
    state_.observer = unknown_ ? &*unknown_ : observer;
    state_.sm = sm;
    state_.index = {static_cast<std::uint32_t>(index % launch_.grid.x),
                    static_cast<std::uint32_t>(index / launch_.grid.x % launch_.grid.y),
                    static_cast<std::uint32_t>(index / launch_.grid.x / launch_.grid.y)};
    std::ranges::fill(shared_, std::byte{0});
    const auto threads = static_cast<std::uint32_t>(launch_.block.count());
    paths_.clear();
    for (std::uint32_t first = 0; first < threads; first += kWarpSize) {
        const std::uint32_t count = std::min<std::uint32_t>(threads - first, kWarpSize);
        const std::uint32_t lanes = count == kWarpSize ? kAllLanes : (1U << count) - 1;
        const std::uint32_t number = first / kWarpSize;
        if (number == warps_.size()) warps_.push_back(std::make_unique<Warp>(program_));
        warps_[number]->start(state_, number, lanes);
        if (unknown_) unknown_->start(*warps_[number]);
        paths_.emplace_back(lanes);
    }
    for (BlockBarrier& barrier : barriers_) barrier = {.arrived = std::vector<std::uint32_t>(warps_.size())};
    watch_.start(warps_.size());
}

bool BlockRun::done() const { return std::ranges::all_of(paths_, &Paths::done); }

Round BlockRun::round(const RoundRule& rule) {
    Round round{.idle = launch_.watches_waits};
    const std::uint64_t writes = watch_.writes();
    for (warp_ = 0; warp_ < warps_.size(); ++warp_) run_warp(rule, round);
    if (!round.executed) {
        // All warps wait, so that those that ask for a phase stop waiting.
        patient_ = false;
        for (warp_ = 0; warp_ < warps_.size(); ++warp_) run_warp(rule, round);
        patient_ = true;
    }
    round.idle &= round.executed && watch_.writes() == writes;
    return round;
}

void BlockRun::run_warp(const RoundRule& rule, Round& round) {
    if (state_.observer != nullptr) state_.observer->turn(warp_);
    double cycles = 0;
    bool waits = false, asks = false;
    int left = rule.instructions;
    for (; left > 0 && !waits && !asks; --left) {
        Path* const path = paths().current();
        if (path == nullptr) break;
        const std::size_t at = path->step;
        const bool reads = rule.one_read && at < program_.steps.size() && watch_.accesses().reads_global[at];
        if (at < program_.steps.size() && waits_for_group(program_.steps[at]) && !group_has_arrived(warp())) {
            asks = true;
            break;
        }
        if (patient_ && waits_for_phase(*path)) {
            asks = true;
            break;
        }
        // Other warps may swap between a warp's load and its own swap, so each has a turn between two swaps of another.
        if (left < rule.instructions && at < program_.steps.size() && watch_.accesses().swaps[at]) {
            asks = true;
            break;
        }
        round.executed = true;
        if (at < rule.cycles.size()) cycles += static_cast<double>(rule.cycles[at]);
        const std::uint32_t lanes = path->mask;
        execute(*path);
        // A warp whose phase has not ended lets the others go on, which may end it, or give registers back.
        if (const Step& step = program_.steps[at]; checks_phase(step) || asks_for_registers(step))
            asks = (lanes & ~warp().holds(step.predicate_out[0])) != 0;
        waits = launch_.watches_waits && watch_.waits(warp_);
        if (reads) break;
    }
    round.cycles = std::max(round.cycles, cycles);
    if (waits || asks || left == 0) paths().rotate();
    // A warp that could go on and does not wait may change something.
    if (!waits && paths().current() != nullptr) round.idle = false;
}

bool BlockRun::waits_for_phase(const Path& path) {
    if (path.step >= program_.steps.size()) return false;
    const Step& step = program_.steps[path.step];
    if (!tries_to_wait(step) || !is_alone(paths())) return false;
    const std::uint32_t guard = warp().holds({step.guard.predicate, step.guard.uniform, step.guard.invert});
    const std::uint32_t mask = path.mask & guard;
    if (mask == 0) return false;
    // The check changes nothing but its predicate.
    Observer* const observer = std::exchange(state_.observer, nullptr);
    bool waits = false;
    try {
        step.execute(warp(), step, mask);
        waits = (mask & ~warp().holds(step.predicate_out[0])) != 0;
    } catch (const LaneFault&) {
        // Its execution will say what is wrong.
    }
    state_.observer = observer;
    return waits;
}

std::string BlockRun::where(std::size_t step) const {
    return fmt::format("kernel '{}': block ({}, {}, {}), warp {}: {}", program_.kernel, state_.index[0],
                       state_.index[1], state_.index[2], warp_, text_of(program_, step));
}

void BlockRun::execute(const Path& path) {
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
    const std::uint32_t mask = unknown_ ? unknown_->begin(warp(), step, lanes, lanes & guard) : lanes & guard;
    executed_.thread_instructions[at] += static_cast<std::uint64_t>(std::popcount(mask));
    if (state_.observer != nullptr) state_.observer->execute(at, lanes, mask);
    if (step.flow != Flow::next) {
        if (mask == 0)
            paths().split(lanes, at + 1);
        else
            follow_or_name(step, at, mask);
        if (unknown_) unknown_->end(warp(), step, mask);
        return;
    }
    paths().current()->step = at + 1;
    if (mask == 0) return;
    try {
        // A uniform instruction is performed once, and its guard holds for all lanes or none.
        if (!unknown_ || !unknown_->leaves_out(warp(), step, at)) step.execute(warp(), step, step.uniform ? 1U : mask);
    } catch (const LaneFault& fault) {
        throw DeviceError(fmt::format("{}, lane {}: {}", where(at), fault.lane(), fault.what()));
    }
    executed_.further_values[at] += std::exchange(state_.further_values, 0);
    if (unknown_) unknown_->end(warp(), step, step.uniform ? kAllLanes : mask);
    if (launch_.watches_waits) watch_.note(warp(), index_, step, at, step.uniform ? 1U : mask);
}

void BlockRun::follow_or_name(const Step& step, std::size_t at, std::uint32_t mask) {
    try {
        follow(step, at, mask);
    } catch (const LaneFault& fault) {
        throw DeviceError(fmt::format("{}, lane {}: {}", where(at), fault.lane(), fault.what()));
    }
}

/// Performs an instruction that decides where threads go. `mask` are the lanes of the path whose guard holds.
void BlockRun::follow(const Step& step, std::size_t at, std::uint32_t mask) {
    const std::uint32_t taken = taken_lanes(warp(), step, mask);
    switch (step.flow) {
        case Flow::block_barrier: block_barrier(step, at, taken); break;
        case Flow::cluster_arrive:
        case Flow::cluster_wait:
            throw DeviceError(
                fmt::format("{}: blocks of a cluster cannot be executed one by one. Simulate them with "
                            "timing instead",
                            where(at)));
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

void BlockRun::block_barrier(const Step& step, std::size_t at, std::uint32_t taken) {
    const BarrierUse use = barrier_use_of(warp(), step, taken);
    if (state_.observer != nullptr)
        state_.observer->meet(use.number, use.expected, static_cast<std::uint32_t>(std::popcount(taken)),
                              use.mode != BarrierUse::Mode::arrive);
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
bool BlockRun::complete(const BlockBarrier& barrier) const {
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

void BlockRun::arrive(std::uint8_t number) {
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

void BlockRun::arrive_all() {
    for (std::uint8_t number = 0; number < kBlockBarriers; ++number) arrive(number);
}

std::string BlockRun::deadlock() const {
    std::string text = fmt::format("kernel '{}': block ({}, {}, {}): no warp can go on:", program_.kernel,
                                   state_.index[0], state_.index[1], state_.index[2]);
    for (std::size_t w = 0; w < paths_.size(); ++w)
        for (const Path& path : paths_[w].all())
            text += fmt::format(" warp {} lanes {:#010x} wait at {};", w, path.mask,
                                text_of(program_, path.step == 0 ? 0 : path.step - 1));
    return text;
}

}  // namespace gputomo::sim::machine_code
