#include "measure/control/barrier_kernels.hpp"

#include "measure/control/branch_layout.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <string_view>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

constexpr int kHalf = kWarpSize / 2;
constexpr int kBothWarps = 2 * kWarpSize;
constexpr int kWords = 6;  ///< start, two arrivals, two departures, the value that the thread read
/// Warp 1 arrives this often in place of threads that do not arrive. If the barrier counts threads, it needs four of
/// these arrivals; more do no harm.
constexpr int kRescues = 8;
/// Different code on the two sides of a branch keeps the compiler from merging them.
constexpr std::uint32_t kSideMark = 0x5eed'2000;
/// Pairs of operations on a side: enough for the compiler to branch instead of using predicates.
constexpr int kSidePairs = 6;

std::string_view name_of(BarrierCase which) {
    constexpr std::string_view kNames[] = {"halves", "listing_5", "listing_6", "listing_7", "warp_ends", "threads_end"};
    return kNames[static_cast<std::size_t>(which)];
}

/// What all cases share: registers of the record, predicates, shared memory.
struct Body {
    explicit Body(ptx::KernelBuilder& builder) : k(builder) {}

    /// bar.sync is barrier.sync.aligned. From compute capability 7.0 on a warp must come to that as a whole, and an
    /// H200 hangs if it does not. Older GPUs have no other form.
    [[nodiscard]] const char* sync() const { return k.target().sm >= kIndependentSince ? "barrier.sync" : "bar.sync"; }
    [[nodiscard]] const char* arrive() const {
        return k.target().sm >= kIndependentSince ? "barrier.arrive" : "bar.arrive";
    }

    void begin() {
        results = k.param(Type::u64, "results");
        thread = k.special(SpecialRegister::tid_x);
        times = k.regs(Type::u32, 5);
        read_value = k.reg(Type::u32);
        value = k.reg(Type::u32);
        words = k.shared("words", Bytes{4 * kBothWarps});
        slot = k.reg(Type::u32);
        for (const Reg r : times) k("mov.u32", r, 0);
        k("mov.u32", read_value, 0);
        k("mov.u32", value, thread);
        k("mad.lo.u32", slot, thread, 4, words);
        k("st.volatile.shared.u32", Mem{slot}, 0);
        first_warp = below(kWarpSize);
        first_half = below(kHalf);
        k("bar.sync", 0);
        k("mov.u32", times[0], SpecialRegister::clock);
    }
    void finish() {
        const Reg mine = k.element(results, thread, Bytes{4 * kWords});
        for (int i = 0; i < 5; ++i) k("st.global.u32", Mem{mine, 4 * i}, times[static_cast<std::size_t>(i)]);
        k("st.global.u32", Mem{mine, 20}, read_value);
        k("st.shared.u32", Mem{slot}, value);
    }
    Reg below(int limit) {
        const Reg p = k.reg(Type::pred);
        k("setp.lt.u32", p, thread, limit);
        return p;
    }
    /// Passes barrier number `which` of this thread and records when it arrived and left.
    void pass(int which, const std::function<void()>& barrier) {
        k("mov.u32", times[static_cast<std::size_t>(1 + 2 * which)], SpecialRegister::clock);
        barrier();
        k("mov.u32", times[static_cast<std::size_t>(2 + 2 * which)], SpecialRegister::clock);
    }
    /// Code that differs for each `which`.
    void side(int which) { append_marked(k, value, thread, kSideMark + static_cast<std::uint32_t>(which), kSidePairs); }
    /// Waits until the flag is set, for at most kBarrierPatience cycles; `read_value` is the flag.
    void wait_for_flag() {
        const Reg start = k.clock32();
        const Reg spent = k.reg(Type::u32);
        const Reg more = k.reg(Type::pred);
        const Reg unset = k.reg(Type::pred);
        const ptx::Label top = k.label();
        const ptx::Label out = k.label();
        k.place(top);
        k("ld.volatile.shared.u32", read_value, Mem{words});
        k("setp.eq.u32", unset, read_value, 0);
        k.unless(unset)("bra", out);
        k("sub.u32", spent, k.clock32(), start);
        k("setp.lt.u32", more, spent, kBarrierPatience);
        k.when(more)("bra", top);
        k.place(out);
    }
    /// The halves of the first warp pass their first barrier on different sides of a branch.
    void pass_on_both_sides(int first_side, const std::function<void()>& barrier) {
        const auto one_side = [&](int before) {
            side(before);
            pass(0, barrier);
            side(before + 1);
        };
        k.if_(
            first_half, [&] { one_side(first_side); }, [&] { one_side(first_side + 2); });
    }
    void set_flag() { k("st.volatile.shared.u32", Mem{words}, 1); }

    ptx::KernelBuilder& k;
    Reg results, thread, read_value, value, words, slot, first_warp, first_half;
    std::vector<Reg> times;
};

void halves(Body& b) {
    auto& k = b.k;
    const auto barrier = [&] { k(b.sync(), 1, kBothWarps); };
    k.if_(
        b.first_warp,
        [&] {
            b.side(0);
            b.pass_on_both_sides(1, barrier);
            b.set_flag();
        },
        [&] {
            k(b.arrive(), 1, kBothWarps);
            const Reg half = b.below(kWarpSize + kHalf);
            const Reg stuck = k.reg(Type::pred);
            k.loop(kRescues, [&] {
                b.wait_for_flag();
                k("setp.eq.u32", stuck, b.read_value, 0);
                k.if_(stuck, [&] { k.when(half)(b.arrive(), 1, kBothWarps); });
            });
        });
}

void listing_5(Body& b) {
    auto& k = b.k;
    const auto barrier = [&] { k(b.sync(), 0); };
    const Reg other = k.reg(Type::u32);
    const Reg wanted = k.reg(Type::u32);
    k("add.u32", wanted, b.thread, 1);
    k("and.b32", other, b.thread, kHalf - 1);
    k("mad.lo.u32", other, other, 4, b.words);
    k.if_(
        b.first_half,
        [&] {
            k("st.volatile.shared.u32", Mem{b.slot}, wanted);
            b.side(0);
            b.pass(0, barrier);
            b.side(1);
        },
        [&] {
            b.side(2);
            b.pass(0, barrier);
            k("ld.volatile.shared.u32", b.read_value, Mem{other});
            b.side(3);
        });
}

void listing_6(Body& b) {
    b.k.if_(
        b.first_warp,
        [&] {
            b.pass(0, [&] { b.k(b.sync(), 0); });
            b.set_flag();
        },
        [&] { b.wait_for_flag(); });
}

void listing_7(Body& b) {
    auto& k = b.k;
    const auto barrier = [&] { k(b.sync(), 0); };
    k.if_(
        b.first_warp, [&] { b.pass_on_both_sides(0, barrier); },
        [&] {
            b.pass(0, barrier);
            b.pass(1, barrier);
        });
}

void warp_ends(Body& b) {
    b.k.unless(b.first_warp)("exit");
    b.pass(0, [&] { b.k(b.sync(), 0); });
}

void threads_end(Body& b) {
    b.k.when(b.first_half)("exit");
    b.pass(0, [&] { b.k(b.sync(), 0); });
}

}  // namespace

ptx::KernelBuilder barrier_case_kernel(ptx::Target target, BarrierCase which) {
    constexpr void (*kBodies[])(Body&) = {halves, listing_5, listing_6, listing_7, warp_ends, threads_end};
    ptx::KernelBuilder k(fmt::format("barrier_{}", name_of(which)), target);
    Body body(k);
    body.begin();
    kBodies[static_cast<std::size_t>(which)](body);
    body.finish();
    return k;
}

std::vector<BarrierRecord> run_barrier_case(device::Device& device, BarrierCase which) {
    CompiledKernel kernel(device, barrier_case_kernel(target_of(device), which));
    const std::size_t threads = which == BarrierCase::listing_5 ? kWarpSize : kBothWarps;
    const device::Buffer results(device, Bytes{4 * kWords * kBothWarps});
    device.fill_u32(results.address(), 0, kWords * kBothWarps);
    device::Arguments arguments;
    arguments.add(results.address());
    kernel.launch({1}, {static_cast<std::uint32_t>(threads)}, arguments);
    const auto raw = results.read<std::uint32_t>(kWords * threads);
    // A thread that ended early wrote nothing. The last thread of warp 0 writes in all cases where others end early.
    const std::uint32_t origin = raw[kWords * (kWarpSize - 1)];
    std::vector<BarrierRecord> records;
    for (std::size_t t = 0; t < threads; ++t) {
        const auto since = [&](std::size_t i) -> std::int64_t {
            return static_cast<std::int32_t>(raw[kWords * t + i] - origin);
        };
        BarrierRecord record{.recorded = raw[kWords * t] != 0, .read_value = raw[kWords * t + 5]};
        for (std::size_t i = 0; i < 2; ++i) record.passages[i] = {since(1 + 2 * i), since(2 + 2 * i)};
        records.push_back(record);
    }
    return records;
}

}  // namespace gputomo::measure
