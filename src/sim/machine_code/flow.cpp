#include "sim/machine_code/flow.hpp"

#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/printing.hpp"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>

namespace gputomo::sim::machine_code {
namespace {

std::size_t step_at(std::uint64_t address) { return static_cast<std::size_t>(address / sass::kInstructionBytes); }

/// The lanes `taken` go to the target, the other ones of the path to the next instruction.
bool move_on(Paths& paths, std::uint32_t taken, std::size_t at, std::size_t target) {
    Path& path = *paths.current();
    if (taken == path.mask) {
        path.step = target;
        return true;
    }
    path.step = at + 1;
    if (taken != 0) paths.split(taken, target);
    return taken != 0;
}

bool is_for_converged(const Step& step) {
    return step.instruction.form->row->modifiers.find(".CONV") != std::string_view::npos;
}

bool is_for_any(const Step& step) {
    return step.instruction.form->row->modifiers.find(".ANY") != std::string_view::npos;
}

/// The text at a device address, for messages.
std::string text_at(const Warp& warp, std::uint64_t address) {
    constexpr std::size_t kLongest = 200;
    std::string text;
    for (; text.size() < kLongest; ++address) {
        const std::byte* const at = warp.block->global->resolve(address, 1);
        if (at == nullptr || *at == std::byte{0}) break;
        text += static_cast<char>(*at);
    }
    return text;
}

/// While it lives, accesses of the block are not observed. Printing may throw.
class Unobserved {
public:
    explicit Unobserved(BlockState& block) : block_(block), observer_(std::exchange(block.observer, nullptr)) {}
    ~Unobserved() { block_.observer = observer_; }
    Unobserved(const Unobserved&) = delete;
    Unobserved& operator=(const Unobserved&) = delete;

private:
    BlockState& block_;
    Observer* observer_;
};

/// Performs a function of the system for the threads `taken`, which then go on behind the call.
void call_system(Warp& warp, std::uint64_t address, std::uint32_t taken) {
    constexpr std::size_t kArguments = 4;  // the first register of the arguments, and of the result
    const int first = std::countr_zero(taken);
    const auto& functions = warp.block->program->system_functions;
    const std::size_t number = (address - kSystemCode) / sass::kInstructionBytes;
    const std::string name = number < functions.size() ? functions[number] : fmt::format("{:#x}", address);
    const auto pointer = [&](std::size_t reg, int lane) {
        const auto l = static_cast<std::size_t>(lane);
        return warp.registers[reg][l] | std::uint64_t{warp.registers[reg + 1][l]} << 32;
    };
    if (name == "__assertfail")
        throw LaneFault(first, fmt::format("assertion '{}' failed", text_at(warp, pointer(kArguments, first))));
    if (name != "vprintf") throw LaneFault(first, fmt::format("call of '{}', which is not simulated,", name));
    // The system's own accesses to the format and the arguments are not those of the kernel.
    const Unobserved unobserved(*warp.block);
    for_lanes(taken, [&](int l) {
        const std::int32_t result = print(warp, l, pointer(kArguments, l), pointer(kArguments + 2, l));
        warp.registers[kArguments][static_cast<std::size_t>(l)] = static_cast<std::uint32_t>(result);
    });
}

/// BRX, RET and indirect CALL: a thread goes to the address in its registers, which is relative to the instruction's
/// target. Those with the address of the first one go; the others issue the instruction again.
void go_indirectly(Warp& warp, Paths& paths, const Step& step, std::size_t at, std::uint32_t taken) {
    separate(paths, taken, at);
    if (taken == 0) return;
    const WideView address = warp.wide(step, 0);
    const std::uint64_t to = address[std::countr_zero(taken)], target = step.target + to;
    std::uint32_t same = 0;
    for_lanes(taken, [&](int l) { same |= static_cast<std::uint32_t>(address[l] == to) << l; });
    const bool system = step.flow == Flow::indirect_call && target >= kSystemCode;
    if (system) call_system(warp, target, same);
    paths.split(same, system ? at + 1 : step_at(target));
}

void leave_convergence(Warp& warp, std::uint8_t barrier, std::uint32_t taken) {
    std::uint32_t partners = 0;
    auto& waits = warp.convergence[barrier];
    for_lanes(taken, [&](int l) { partners |= waits[static_cast<std::size_t>(l)]; });
    for_lanes(partners, [&](int l) { waits[static_cast<std::size_t>(l)] &= ~taken; });
}

/// Those of the lanes whose WARPSYNC waits for these members.
std::uint32_t with_members(const View& view, std::uint32_t lanes, std::uint32_t members) {
    std::uint32_t same = 0;
    for_lanes(lanes, [&](int l) {
        if (view[l] == members) same |= 1U << l;
    });
    return same;
}

}  // namespace

std::uint32_t taken_lanes(const Warp& warp, const Step& step, std::uint32_t mask) {
    if (step.flow == Flow::block_barrier) return mask;
    // BRA.U has a predicate of the thread beside the uniform one. Both have to hold.
    for (int i = 0; i < step.predicate_count; ++i) mask &= warp.holds(step, i);
    return mask;
}

void separate(Paths& paths, std::uint32_t taken, std::size_t at) {
    const std::uint32_t lanes = paths.current()->mask;
    if (taken != lanes) paths.split(lanes & ~taken, at + 1);
}

bool follow(Warp& warp, Paths& paths, const Step& step, std::size_t at, std::uint32_t taken) {
    Path& path = *paths.current();
    const std::uint32_t lanes = path.mask;
    switch (step.flow) {
        case Flow::branch:
            // All threads branch with BRA.DIV where those that its predicate lets branch are not those of the uniform
            // register, with BRA.CONV where they are.
            if (step.source_count > 0) taken = (taken == warp.view(step, 0)[0]) == is_for_converged(step) ? lanes : 0;
            // BRA.U.ANY: all threads branch where one of them does.
            if (is_for_any(step) && taken != 0) taken = lanes;
            return move_on(paths, taken, at, step_at(step.target));
        case Flow::call: return move_on(paths, taken, at, step_at(step.target));
        case Flow::indirect_call:
        case Flow::indirect_branch: go_indirectly(warp, paths, step, at, taken); return true;
        case Flow::exit:
            path.step = at + 1;
            if (taken == 0) return false;
            paths.exit(taken);
            paths.release(warp.convergence);
            return true;
        case Flow::begin_convergence:
            for_lanes(taken, [&](int l) { warp.convergence[step.barrier][static_cast<std::size_t>(l)] = taken; });
            path.step = at + 1;
            return false;
        case Flow::converge:
            separate(paths, taken, at);
            paths.wait(Path::State::converging, step.barrier, 0, at + 1);
            paths.release(warp.convergence);
            return false;
        case Flow::leave_convergence:
            leave_convergence(warp, step.barrier, taken);
            path.step = at + 1;
            paths.release(warp.convergence);
            return false;
        case Flow::warp_barrier: {
            const auto first = std::countr_zero(taken == 0 ? lanes : taken);
            const std::uint32_t members = step.source_count > 0 ? warp.view(step, 0)[first] : warp.lanes;
            separate(paths, taken, at);
            // Threads with other members meet by themselves.
            if (step.source_count > 0)
                if (const std::uint32_t others = taken & ~with_members(warp.view(step, 0), taken, members); others != 0)
                    paths.split(others, at);
            paths.wait(Path::State::warp_barrier, 0, members & warp.lanes, at + 1);
            paths.release(warp.convergence);
            return false;
        }
        case Flow::yield:
            path.step = at + 1;
            paths.rotate();
            return false;
        default: path.step = at + 1; return false;
    }
}

BarrierUse barrier_use_of(const Warp& warp, const Step& step, std::uint32_t taken) {
    const auto text = step.instruction.form->row->modifiers;
    const int first = std::countr_zero(taken);
    BarrierUse use;
    use.mode = text.find(".ARV") != std::string_view::npos   ? BarrierUse::Mode::arrive
               : text.find(".RED") != std::string_view::npos ? BarrierUse::Mode::reduce
                                                             : BarrierUse::Mode::sync;
    use.number = warp.view(step, 0)[first];
    if (use.number >= kBlockBarriers)
        throw LaneFault(first, fmt::format("barrier {}; expected 0 to {}", use.number, kBlockBarriers - 1));
    use.expected = step.source_count > 1 ? warp.view(step, 1)[first] : 0;
    if (use.mode == BarrierUse::Mode::reduce) {
        use.votes = warp.holds(step, 0) & taken;
        use.reduction = step.instruction.value(sass::Modifier::barrier_reduction);
    }
    return use;
}

}  // namespace gputomo::sim::machine_code
