#include "measure/chase/interference_kernel.hpp"

#include "measure/chase/chase_follower.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace gputomo::measure {
namespace {

using ptx::Label;
using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// A block that waits for the other one gives up after this many polls. Without a limit the kernel would hang.
/// Polls of 2^20 last far longer than any pass.
constexpr std::uint32_t kMostSpins = 1 << 20;
/// Passes of the own array: two warm it, the last one is timed.
constexpr std::uint32_t kOwnPasses = 3;

/// One pass of `iterations` times kInterferenceUnroll loads, between two clock reads.
void append_timed_pass(ptx::KernelBuilder& k, ChaseFollower& follower, Reg iterations, const Mem& first,
                       const Mem& last) {
    const Reg begin = k.clock_after(follower.at());
    // Unrolled: otherwise the loop's own instructions would hide short latencies.
    k.loop(iterations, [&] { k.repeat(kInterferenceUnroll, [&](int) { follower.load(); }); });
    const Reg end = k.clock_after(follower.at());
    k("st.global.u32", first, begin);
    k("st.global.u32", last, end);
}

}  // namespace

ptx::KernelBuilder interference_kernel(ptx::Target target, LoadHint hint) {
    ptx::KernelBuilder k(fmt::format("competition_{}", short_name_of(hint)), target);
    const Reg own_start = k.param(Type::u64, "own_start"), rival_start = k.param(Type::u64, "rival_start");
    const Reg own_iterations = k.param(Type::u32, "own_turns"), rival_iterations = k.param(Type::u32, "rival_turns"),
              rival_passes = k.param(Type::u32, "rival_laps");
    const Reg sm = k.param(Type::u32, "sm"), rival_sm = k.param(Type::u32, "rival_sm");
    const Reg results = k.param(Type::u64, "results");
    if (hint == LoadHint::constant) static_cast<void>(k.array(constant_array()));
    const Reg texture = hint == LoadHint::texture ? k.param(Type::u64, "texture") : Reg{};
    const Label no_own = k.label(), leave = k.label();
    const Reg here = k.special(SpecialRegister::smid), taken = k.reg(Type::u32), wrong = k.reg(Type::pred);
    const auto claim = [&](Reg wanted, std::int64_t flag, Label lost) {
        k("setp.ne.u32", wrong, here, wanted);
        k.when(wrong)("bra", lost);
        k("atom.global.exch.b32", taken, Mem{results, flag}, 1);
        k("setp.ne.u32", wrong, taken, 0);
        k.when(wrong)("bra", lost);
    };
    const Reg phase = k.reg(Type::u32), more = k.reg(Type::pred), spins = k.reg(Type::u32);
    const auto wait_for = [&](std::uint32_t wanted) {
        k("mov.u32", spins, 0);
        k.while_(
            [&] {
                k("ld.volatile.global.u32", phase, Mem{results, offsetof(InterferenceResults, phase)});
                k("add.u32", spins, spins, 1);
                k("setp.lt.u32", more, phase, wanted);
                const Reg patient = k.reg(Type::pred);
                k("setp.lt.and.u32", patient, spins, kMostSpins, more);
                return ptx::Condition(patient);
            },
            [] {});
    };
    // No fence is needed, because each load has waited for the one before. A fence might empty the L1.
    const auto enter = [&](std::uint32_t number) {
        k("st.volatile.global.u32", Mem{results, offsetof(InterferenceResults, phase)}, number);
    };
    claim(sm, offsetof(InterferenceResults, own_claim), no_own);
    ChaseFollower own(k, hint, own_start, texture);
    // The passes before the timed one run through the same code, because some caches hold code beside constants.
    k.loop(kOwnPasses, [&](Reg pass) {
        const Reg timed = k.reg(Type::pred);
        k("setp.eq.u32", timed, pass, kOwnPasses - 1);
        k.if_(timed, [&] {
            enter(1);
            wait_for(2);
        });
        append_timed_pass(k, own, own_iterations, Mem{results, offsetof(InterferenceResults, begin)},
                          Mem{results, offsetof(InterferenceResults, end)});
    });
    own.store(Mem{results, sizeof(InterferenceResults)});
    const Reg both = k.reg(Type::u32);
    k("set.eq.u32.u32", both, phase, 2);
    k("st.global.u32", Mem{results, offsetof(InterferenceResults, done)}, both);
    k("bra", leave);
    k.place(no_own);
    claim(rival_sm, offsetof(InterferenceResults, rival_claim), leave);
    ChaseFollower other(k, hint, rival_start, texture);
    wait_for(1);
    k.loop(rival_passes, [&] {
        append_timed_pass(k, other, rival_iterations, Mem{results, offsetof(InterferenceResults, rival_begin)},
                          Mem{results, offsetof(InterferenceResults, rival_end)});
    });
    other.store(Mem{results, sizeof(InterferenceResults) + 8});
    enter(2);
    k.place(leave);
    return k;
}

}  // namespace gputomo::measure
