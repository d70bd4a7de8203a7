#include "measure/mix/mix_kernel.hpp"

#include <cstddef>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Settling, counting, and running on while others count.
constexpr int kPhases = 3;
/// Compute capability from which on all GPUs have atomic operations on global memory. On older GPUs no scheduler
/// prefers old warps, so they need no gate.
constexpr int kAtomicsFrom = 20;

struct Gate {
    Reg word, goal;  ///< number of blocks that have arrived, and its value when all have
    Reg origins;     ///< by SM; 0: not set yet
};

/// The time at which the first block of the SM comes here. One thread of a block asks: many atomic operations on one
/// word would take longer than a loop iteration.
Reg append_origin(ptx::KernelBuilder& k, const Gate& gate) {
    const Reg mine = k.reg(Type::b32), set = k.reg(Type::b32), first = k.reg(Type::pred);
    k("or.b32", mine, k.clock32(), 1);
    k("atom.global.cas.b32", set, Mem{k.element(gate.origins, k.special(SpecialRegister::smid), Bytes{4})}, 0, mine);
    k("setp.eq.u32", first, set, 0);
    k("selp.b32", set, mine, set, first);
    return set;
}

/// Waits until all blocks have arrived. Returns the origin of the SM's times.
Reg append_gate(ptx::KernelBuilder& k, const Gate& gate, Reg arrival) {
    const Reg first = k.reg(Type::pred), origin = k.reg(Type::u32), shared = k.shared("origin", Bytes{4});
    k("setp.eq.u32", first, k.special(SpecialRegister::tid_x), 0);
    k.if_(first, [&] {
        const Reg come = k.reg(Type::u32), missing = k.reg(Type::u32), spent = k.reg(Type::u32),
                  more = k.reg(Type::pred), soon = k.reg(Type::pred);
        k("atom.global.add.u32", come, Mem{gate.word}, 1);
        const ptx::Label top = k.label();
        k.place(top);
        k("ld.volatile.global.u32", come, Mem{gate.word});
        k("sub.u32", missing, gate.goal, come);
        k("sub.u32", spent, k.clock_after(come), arrival);
        k("setp.gt.s32", more, missing, 0);
        k("setp.lt.u32", soon, spent, kGateCycles);
        k("and.pred", more, more, soon);
        k.when(more)("bra", top);
        k("st.shared.u32", Mem{shared}, append_origin(k, gate));
    });
    k("bar.sync", 0);
    k("ld.shared.u32", origin, Mem{shared});
    return origin;
}

/// A warp's loop iterations so far, and when the last one began and ended.
struct Iterations {
    Reg done, most, begin, end;
};

/// Loop iterations until the clock reaches `limit`.
void append_iterations(ptx::KernelBuilder& k, const MixShape& shape, MixCode& code, Reg zero, Reg limit,
                       const Iterations& iterations) {
    const ptx::Label top = k.label();
    const Reg spent = k.reg(Type::u32), more = k.reg(Type::pred);
    k.place(top);
    code.append_iteration(zero);
    k("add.u32", iterations.done, iterations.done, 1);
    k("mov.u32", iterations.begin, iterations.end);
    k("mov.u32", iterations.end, k.clock32());
    k("sub.u32", spent, iterations.end, limit);
    k("setp.lt.s32", more, spent, 0);
    if (shape.reads_lines()) {
        const Reg within = k.reg(Type::pred);
        k("setp.lt.u32", within, iterations.done, iterations.most);
        k("and.pred", more, more, within);
    }
    k.when(more)("bra", top);
}

}  // namespace

ptx::KernelBuilder mix_kernel(ptx::Target target, const MixShape& shape) {
    ptx::KernelBuilder k(shape.name(), target);
    const LineArguments lines = line_parameters(k);
    const Reg most = k.param(Type::u32, "most_turns"), settle = k.param(Type::u32, "settle"),
              window = k.param(Type::u32, "window"), after = k.param(Type::u32, "after");
    const Reg zero = k.param(Type::f32, "zero");
    const Reg records = k.param(Type::u64, "records"), word = k.param(Type::u64, "gate"),
              goal = k.param(Type::u32, "goal");
    const Gate gate{word, goal, k.param(Type::u64, "origins")};
    const bool gated = target.sm >= kAtomicsFrom;
    MixCode code(k, shape);
    code.start(lines, zero);
    const Reg warp = k.reg(Type::u32), first_lane = k.reg(Type::pred), limit = k.reg(Type::u32), at = k.reg(Type::u64);
    k("shr.u32", warp, k.thread_index(), 5);
    k("setp.eq.u32", first_lane, k.special(SpecialRegister::laneid), 0);
    k("mov.u64", at, k.element(records, warp, Bytes{sizeof(MixRecord)}));
    const auto store = [&](std::size_t offset, Reg value, std::size_t behind = 0) {
        k.when(first_lane)("st.global.u32",
                           Mem{at, static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(behind)}, value);
    };
    const Reg arrival = k.clock_after(code.last());
    const Reg common = gated ? append_gate(k, gate, arrival) : arrival;
    const Iterations iterations{k.reg(Type::u32), most, k.reg(Type::u32), k.clock_after(common)};
    const Reg origin = gated ? common : iterations.end;
    // Values are stored at once, so that they take no register in the loop: many chains on many warps leave few.
    store(offsetof(MixRecord, arrival), arrival);
    store(offsetof(MixRecord, start), iterations.end);
    store(offsetof(MixRecord, origin), origin);
    store(offsetof(MixRecord, sm), k.special(SpecialRegister::smid));
    k("mov.u32", iterations.done, 0);
    k("add.u32", limit, origin, settle);
    k.loop(kPhases, [&](Reg phase) {
        append_iterations(k, shape, code, zero, limit, iterations);
        store(offsetof(MixRecord::Mark, time), iterations.end);
        store(offsetof(MixRecord::Mark, iterations), iterations.done);
        store(offsetof(MixRecord::Mark, begin), iterations.begin);
        k("add.u64", at, at, static_cast<int>(sizeof(MixRecord::Mark)));
        const Reg first = k.reg(Type::pred);
        k("setp.eq.u32", first, phase, 0);
        k.when(first)("add.u32", limit, limit, window);
        k.when(!first)("add.u32", limit, limit, after);
    });
    constexpr std::size_t kMarks = kPhases * sizeof(MixRecord::Mark);
    store(offsetof(MixRecord, pointers), code.sum(), kMarks);
    store(offsetof(MixRecord, iterations), iterations.done, kMarks);
    return k;
}

}  // namespace gputomo::measure
