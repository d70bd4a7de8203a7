#include "sim/machine_code/run.hpp"

#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/paths.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

/// Instructions after which another path or warp gets its turn. Fewer make switching cost more, more make threads that
/// wait for one another in a loop take longer.
constexpr int kTurn = 2000;

constexpr std::size_t kBarriers = 16;

/// One barrier of a block: the threads that arrived.
struct BlockBarrier {
    std::vector<std::uint32_t> arrived;  ///< by warp
    std::uint64_t repeated = 0;          ///< threads that arrived again before the others
    std::uint64_t expected = 0;          ///< threads; 0 means all of the block
    std::uint32_t count = 0;             ///< threads whose predicate held
    bool all = true;
    bool any = false;
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
            warps_.push_back(std::make_unique<Warp>(state_, first / kWarpSize, lanes, program_.local_bytes));
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
        state_.clock = executed_.total;
        const std::uint32_t guard = warp().holds({step.guard.predicate, step.guard.uniform, step.guard.invert});
        const std::uint32_t mask = lanes & guard;
        executed_.thread_instructions[at] += static_cast<std::uint64_t>(std::popcount(mask));
        if (step.flow != Flow::next) {
            if (mask == 0)
                paths().split(lanes, at + 1);
            else
                follow(step, at, lanes, mask);
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

    /// Performs an instruction that decides where threads go. `mask` are those of `lanes` whose guard holds.
    void follow(const Step& step, std::size_t at, std::uint32_t lanes, std::uint32_t mask) {
        const bool has_predicate = step.predicate_count > 0 && step.flow != Flow::block_barrier;
        std::uint32_t taken = has_predicate ? mask & warp().holds(step, 0) : mask;
        const auto target = [&](std::uint64_t address) {
            return static_cast<std::size_t>(address / sass::kInstructionBytes);
        };
        switch (step.flow) {
            case Flow::branch:
                // BRA.DIV: to the target where the threads are not those of the uniform register.
                if (step.source_count > 0 && lanes == warp().view(step, 0)[0]) taken = 0;
                move_on(lanes, taken, at, target(step.target));
                break;
            case Flow::call: move_on(lanes, taken, at, target(step.target)); break;
            case Flow::indirect_branch: indirect(step, at, lanes, taken); break;
            case Flow::exit:
                leave(taken, at);
                arrive_all();
                break;
            case Flow::begin_convergence:
                for_lanes(taken, [&](int l) { warp().convergence[step.barrier][static_cast<std::size_t>(l)] = taken; });
                paths().current()->step = at + 1;
                break;
            case Flow::converge:
                separate(lanes, taken, at);
                paths().wait(Path::State::converging, step.barrier, 0, at + 1);
                paths().release(warp().convergence);
                break;
            case Flow::leave_convergence: {
                std::uint32_t partners = 0;
                auto& waits = warp().convergence[step.barrier];
                for_lanes(taken, [&](int l) { partners |= waits[static_cast<std::size_t>(l)]; });
                for_lanes(partners, [&](int l) { waits[static_cast<std::size_t>(l)] &= ~taken; });
                paths().current()->step = at + 1;
                paths().release(warp().convergence);
                break;
            }
            case Flow::warp_barrier: {
                const auto first = std::countr_zero(taken == 0 ? lanes : taken);
                const std::uint32_t members = step.source_count > 0 ? warp().view(step, 0)[first] : warp().lanes;
                separate(lanes, taken, at);
                paths().wait(Path::State::warp_barrier, 0, members & warp().lanes, at + 1);
                paths().release(warp().convergence);
                break;
            }
            case Flow::yield:
                paths().current()->step = at + 1;
                paths().rotate();
                break;
            case Flow::block_barrier: block_barrier(step, at, lanes, taken); break;
            case Flow::trap:
                throw DeviceError(fmt::format("{}: the kernel stopped itself (trap or failed assertion)", where(at)));
            default:
                throw DeviceError(
                    fmt::format("{} cannot be executed: {}. Run the kernel's PTX instead, or report this "
                                "instruction",
                                where(at), step.refusal));
        }
    }

    /// Lanes `taken` go to the target, the other ones of the path to the next instruction.
    void move_on(std::uint32_t lanes, std::uint32_t taken, std::size_t at, std::size_t target) {
        if (taken == lanes) {
            paths().current()->step = target;
            return;
        }
        paths().current()->step = at + 1;
        if (taken != 0) paths().split(taken, target);
    }

    /// Leaves the lanes `taken` in the current path and lets the others go on.
    void separate(std::uint32_t lanes, std::uint32_t taken, std::size_t at) {
        if (taken != lanes) paths().split(lanes & ~taken, at + 1);
    }

    void leave(std::uint32_t taken, std::size_t at) {
        paths().current()->step = at + 1;
        if (taken == 0) return;
        paths().exit(taken);
        paths().release(warp().convergence);
    }

    /// BRX and RET: each thread to the address in its registers, relative to the instruction's target.
    void indirect(const Step& step, std::size_t at, std::uint32_t lanes, std::uint32_t taken) {
        separate(lanes, taken, at);
        const WideView address = warp().wide(step, 0);
        while (taken != 0) {
            const std::uint64_t to = address[std::countr_zero(taken)];
            std::uint32_t same = 0;
            for_lanes(taken, [&](int l) { same |= static_cast<std::uint32_t>(address[l] == to) << l; });
            paths().split(same, static_cast<std::size_t>((step.target + to) / sass::kInstructionBytes));
            taken &= ~same;
        }
    }

    void block_barrier(const Step& step, std::size_t at, std::uint32_t lanes, std::uint32_t taken) {
        enum class Mode : std::uint8_t { sync, arrive, reduce };
        const auto text = step.instruction.form->row->modifiers;
        const Mode mode = text.find(".ARV") != std::string_view::npos   ? Mode::arrive
                          : text.find(".RED") != std::string_view::npos ? Mode::reduce
                                                                        : Mode::sync;
        const int first = std::countr_zero(taken);
        const std::uint32_t number = warp().view(step, 0)[first];
        if (number >= kBarriers)
            throw DeviceError(fmt::format("{}: barrier {}; expected 0 to {}", where(at), number, kBarriers - 1));
        BlockBarrier& barrier = barriers_[number];
        barrier.expected = step.source_count > 1 ? warp().view(step, 1)[first] : 0;
        barrier.active = true;
        barrier.repeated += static_cast<std::uint64_t>(std::popcount(barrier.arrived[warp_] & taken));
        barrier.arrived[warp_] |= taken;
        if (mode == Mode::reduce) {
            const std::uint32_t votes = warp().holds(step, 0) & taken;
            barrier.reduction = step.instruction.value(Modifier::barrier_reduction);
            barrier.count += static_cast<std::uint32_t>(std::popcount(votes));
            barrier.all = barrier.all && votes == taken;
            barrier.any = barrier.any || votes != 0;
        }
        if (mode == Mode::arrive) {
            paths().current()->step = at + 1;
        } else {
            separate(lanes, taken, at);
            paths().wait(Path::State::block_barrier, static_cast<std::uint8_t>(number), 0, at + 1);
        }
        arrive(static_cast<std::uint8_t>(number));
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
        const std::uint32_t result = barrier.reduction == 0   ? barrier.count
                                     : barrier.reduction == 1 ? static_cast<std::uint32_t>(barrier.all)
                                                              : static_cast<std::uint32_t>(barrier.any);
        for (std::size_t w = 0; w < warps_.size(); ++w) {
            if (barrier.arrived[w] == 0) continue;
            warps_[w]->barrier_result = result;
            paths_[w].release_block_barrier(number);
        }
        barrier = {.arrived = std::vector<std::uint32_t>(warps_.size())};
    }

    void arrive_all() {
        for (std::uint8_t number = 0; number < kBarriers; ++number) arrive(number);
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
    std::array<BlockBarrier, kBarriers> barriers_;
    std::size_t warp_ = 0;
};

/// Constant bank 0 of a launch: dimensions, the window of local memory, the top of the stack and the parameters.
void fill_bank(const MachineProgram& program, const FunctionalLaunch& launch, std::vector<std::uint32_t>& bank) {
    constexpr std::size_t kLocalWindowWord = 0x20 / 4, kStackWord = 0x28 / 4;
    if (launch.parameters.size() != program.parameter_bytes)
        throw InputError(fmt::format("kernel '{}': its parameters take {} bytes; {} bytes of arguments were given",
                                     program.kernel, program.parameter_bytes, launch.parameters.size()));
    bank.resize(std::max(bank.size(), kStackWord + 1));
    const std::array<std::uint32_t, 6> dimensions{launch.block.x, launch.block.y, launch.block.z,
                                                  launch.grid.x,  launch.grid.y,  launch.grid.z};
    std::ranges::copy(dimensions, bank.begin());
    bank[kLocalWindowWord] = static_cast<std::uint32_t>(kLocalWindow);
    bank[kLocalWindowWord + 1] = static_cast<std::uint32_t>(kLocalWindow >> 32);
    bank[kStackWord] = static_cast<std::uint32_t>(program.local_bytes);
    if (!launch.parameters.empty())
        std::memcpy(reinterpret_cast<std::byte*>(bank.data()) + program.parameter_offset, launch.parameters.data(),
                    launch.parameters.size());
}

}  // namespace

Warp::Warp(BlockState& its_block, std::uint32_t its_number, std::uint32_t its_lanes, std::uint64_t frame_bytes)
    : block(its_block), number(its_number), lanes(its_lanes), local(frame_bytes * kWarpSize), local_bytes(frame_bytes) {
    predicates[sass::kTruePredicate] = kAllLanes;
    uniform_predicates[sass::kTruePredicate] = kAllLanes;
}

View Warp::view(const Step& step, int which, int word) const {
    static constexpr std::uint32_t kZero = 0;
    const Source& source = step.source[static_cast<std::size_t>(which)];
    const auto w = static_cast<std::size_t>(word);
    View view{&kZero, 0, source.keep, source.flip, source.plus};
    switch (source.kind) {
        case Source::Kind::zero: break;
        case Source::Kind::reg:
            view.bits = registers[source.reg + w].data();
            view.step = 1;
            break;
        case Source::Kind::uniform: view.bits = &uniforms[source.reg + w]; break;
        case Source::Kind::immediate: view.bits = word == 0 ? &source.low : &source.high; break;
        case Source::Kind::constant: {
            const auto& bank = (*block.constants)[source.bank];
            const auto at = static_cast<std::uint64_t>(source.offset) / 4 + w;
            if (at >= bank.size())
                throw LaneFault(0, fmt::format("illegal offset {:#x} in constant bank {} of {:#x} bytes", source.offset,
                                               source.bank, 4 * bank.size()));
            view.bits = &bank[at];
            break;
        }
    }
    return view;
}

Executed run(const MachineProgram& program, const FunctionalLaunch& launch, const DeviceMemory& memory) {
    if (launch.block.count() == 0 || launch.block.count() > 1024 || launch.grid.count() == 0)
        throw InputError(
            fmt::format("kernel '{}': a grid of {} blocks of {} threads; expected at least one block of 1 "
                        "to 1024 threads",
                        program.kernel, launch.grid.count(), launch.block.count()));
    auto constants = program.constants;
    fill_bank(program, launch, constants[0]);
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
    };
    if (launch.blocks.empty())
        for (std::uint64_t index = 0; index < launch.grid.count(); ++index) run_block(index);
    for (const std::uint64_t index : launch.blocks) run_block(index);
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
