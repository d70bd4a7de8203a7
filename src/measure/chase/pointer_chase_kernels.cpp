// What runs on the device for LinkWriter and PointerChase.
#include "measure/chase/pointer_chase_kernels.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace gputomo::measure {
namespace {

using ptx::Label;
using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

std::string_view load_of(LoadHint hint) {
    switch (hint) {
        case LoadHint::all: return "ld.global.ca.u64";
        case LoadHint::l2_only: return "ld.global.cg.u64";
        case LoadHint::none: return "ld.volatile.global.u64";
        case LoadHint::constant: return "ld.const.u64";
        case LoadHint::texture: return "tex.1d.v4.u32.s32";
    }
    return {};
}

std::string_view name_of(LoadHint hint) {
    switch (hint) {
        case LoadHint::all: return "ca";
        case LoadHint::l2_only: return "cg";
        case LoadHint::none: return "volatile";
        case LoadHint::constant: return "constant";
        case LoadHint::texture: return "texture";
    }
    return {};
}

/// A block that waits for another one gives up after so many looks.
constexpr std::uint32_t kMostSpins = 1 << 20;
constexpr std::uint32_t kOwnLaps = 3;

struct ChaseParameters {
    Reg start{}, warm{}, iterations{}, wanted_sm{}, results{}, texture{};
};

ChaseParameters declare_parameters(ptx::KernelBuilder& k, LoadHint hint) {
    const Reg start = k.param(Type::u64, "start");
    const Reg warm = k.param(Type::u32, "warm");
    const Reg iterations = k.param(Type::u32, "turns");
    const Reg wanted_sm = k.param(Type::u32, "wanted_sm");
    const Reg results = k.param(Type::u64, "results");
    if (hint == LoadHint::constant) static_cast<void>(k.array(constant_array()));
    return {start,     warm,    iterations,
            wanted_sm, results, hint == LoadHint::texture ? k.param(Type::u64, "texture") : Reg{}};
}

/// Where a chase is: what the loads follow.
class Follower {
public:
    Follower(ptx::KernelBuilder& k, LoadHint hint, const ChaseParameters& parameters)
        : k_(k),
          hint_(hint),
          texture_(parameters.texture),
          at_(k.reg(hint == LoadHint::texture ? Type::s32 : Type::u64)) {
        if (hint == LoadHint::texture) {
            k("cvt.s32.u64", at_, parameters.start);
            rest_ = k.regs(Type::s32, 3);
        } else {
            k("mov.u64", at_, parameters.start);
        }
        if (hint != LoadHint::constant) return;
        // The thread's number, which is 0, keeps the compiler from taking the address for one that all threads share,
        // whose loads take another way.
        const Reg thread = k.reg(Type::u64);
        k("cvt.u64.u32", thread, k.special(SpecialRegister::tid_x));
        k("add.u64", at_, at_, thread);
    }
    [[nodiscard]] Reg at() const { return at_; }
    void load() {
        if (hint_ == LoadHint::texture)
            k_(load_of(hint_), ptx::Vec{at_, rest_[0], rest_[1], rest_[2]}, Mem{texture_}, ptx::Vec{at_});
        else
            k_(load_of(hint_), at_, Mem{at_});
    }
    void store(Mem to) { k_(hint_ == LoadHint::texture ? "st.global.u32" : "st.global.u64", to, at_); }
    /// The low half.
    void low(Reg to) {
        if (hint_ == LoadHint::texture)
            k_("mov.b32", to, at_);
        else
            k_("cvt.u32.u64", to, at_);
    }

private:
    ptx::KernelBuilder& k_;
    LoadHint hint_;
    Reg texture_;
    Reg at_;
    std::vector<Reg> rest_;
};

/// Lets one block go on: any where wanted_sm is kAnySm, else the first on that SM. The flag is the first word of the
/// results.
void append_claim(ptx::KernelBuilder& k, const ChaseParameters& parameters, Label leave) {
    const Reg sm = k.special(SpecialRegister::smid);
    const Reg elsewhere = k.reg(Type::pred);
    const Reg any = k.reg(Type::pred);
    k("setp.eq.u32", any, parameters.wanted_sm, kAnySm);
    k("setp.ne.u32", elsewhere, sm, parameters.wanted_sm);
    const Label claim = k.label();
    k.when(any)("bra", claim);
    k.when(elsewhere)("bra", leave);
    k.place(claim);
    const Reg taken = k.reg(Type::u32);
    const Reg lost = k.reg(Type::pred);
    k("atom.global.exch.b32", taken, Mem{parameters.results}, 1);
    k("setp.ne.u32", lost, taken, 0);
    k.when(lost)("bra", leave);
}

/// Copies so many words of records from shared to global memory, behind the header.
void append_dump(ptx::KernelBuilder& k, Reg records, Reg words, Reg results) {
    const Reg word = k.reg(Type::u32);
    k.loop(words, [&](Reg i) {
        const Reg from = k.reg(Type::u32);
        k("mad.lo.u32", from, i, 4, records);
        k("ld.shared.u32", word, Mem{from});
        k("st.global.u32", Mem{k.element(results, i, Bytes{4}), kHeaderBytes}, word);
    });
}

/// Stores a reading and counts where the load went.
class Recorder {
public:
    Recorder(ptx::KernelBuilder& k, Reg records, bool start_to_start)
        : k_(k),
          start_to_start_(start_to_start),
          at_(k.reg(Type::u32)),
          low_(k.reg(Type::u32)),
          sum_(k.reg(Type::u32)),
          starts_(k.reg(Type::u32)),
          before_(k.reg(Type::u32)),
          cycles_(k.reg(Type::u32)) {
        k("mov.u32", at_, records);
        for (const Reg zero : {sum_, starts_, before_}) k("mov.u32", zero, 0);
    }
    void store(Reg begin, Reg end, Follower& p) {
        k_("sub.u32", cycles_, start_to_start_ ? begin : end, start_to_start_ ? before_ : begin);
        k_("min.u32", cycles_, cycles_, kLongestReading);
        k_("st.shared.u16", Mem{at_}, cycles_);
        if (start_to_start_) k_("mov.u32", before_, begin);
        p.low(low_);
        // Where only its difference to the second is used, some compilers read the first clock by a slower instruction.
        k_("xor.b32", starts_, starts_, begin);
    }
    void go_on() {
        k_("add.u32", sum_, sum_, low_);
        k_("add.u32", at_, at_, kRecordBytes);
    }
    /// The same under a condition.
    void go_on(Reg when) {
        k_.when(when)("add.u32", sum_, sum_, low_);
        k_.when(when)("add.u32", at_, at_, kRecordBytes);
    }
    void finish(Reg results) {
        k_("st.global.u32", Mem{results, kSumOffset}, sum_);
        k_("st.global.u32", Mem{results, kSumOffset + 4}, starts_);
    }

private:
    ptx::KernelBuilder& k_;
    bool start_to_start_;
    Reg at_, low_, sum_, starts_, before_, cycles_;
};

/// `turns` times as many loads as a turn has, and the clock before and behind them.
void append_timed_lap(ptx::KernelBuilder& k, Follower& follower, Reg iterations, const Mem& first, const Mem& last) {
    const Reg begin = k.clock_after(follower.at());
    // Unrolled, or the loop's own instructions would hide short latencies.
    k.loop(iterations, [&] { k.repeat(kInterferenceUnroll, [&](int) { follower.load(); }); });
    const Reg end = k.clock_after(follower.at());
    k("st.global.u32", first, begin);
    k("st.global.u32", last, end);
}

}  // namespace

ptx::ModuleArray constant_array() {
    return {.name = "constants", .space = ptx::Space::constant, .type = Type::u64, .size = kConstantBytes};
}

ptx::KernelBuilder constant_base_kernel(ptx::Target target) {
    ptx::KernelBuilder k("constant_base", target);
    const Reg result = k.param(Type::u64, "result");
    k("st.global.u64", Mem{result}, k.array(constant_array()));
    return k;
}

ptx::KernelBuilder average_chase_kernel(ptx::Target target, LoadHint hint, int unroll) {
    ptx::KernelBuilder k(fmt::format("average_chase_{}_x{}", name_of(hint), unroll), target);
    const auto parameters = declare_parameters(k, hint);
    // Named so that both kernels ask for the same shared memory and leave the same rest to the L1.
    static_cast<void>(k.dynamic_shared());
    const Label leave = k.label();
    append_claim(k, parameters, leave);
    Follower p(k, hint, parameters);
    k.loop(parameters.warm, [&] { p.load(); });
    const Reg begin = k.clock_after(p.at());
    k.loop(parameters.iterations, [&] { k.repeat(unroll, [&](int) { p.load(); }); });
    const Reg end = k.clock_after(p.at());
    k("st.global.u32", Mem{parameters.results, 4}, begin);
    k("st.global.u32", Mem{parameters.results, 8}, end);
    p.store(Mem{parameters.results, 16});
    k.place(leave);
    return k;
}

ptx::KernelBuilder fine_chase_kernel(ptx::Target target, const PointerChase::Shape& shape, int loads) {
    const auto name = fmt::format("fine_chase_{}", name_of(shape.hint));
    ptx::KernelBuilder k(loads == 1 ? name : fmt::format("{}_x{}", name, loads), target);
    const auto parameters = declare_parameters(k, shape.hint);
    const Reg records = k.dynamic_shared();
    const Label leave = k.label();
    append_claim(k, parameters, leave);
    Follower p(k, shape.hint, parameters);
    Recorder recorder(k, records, shape.start_to_start);
    // Constants share caches with instructions: their warm-up runs through the code that records, so that no new code
    // is fetched later.
    const bool same_code = shape.hint == LoadHint::constant;
    const Reg iterations = k.reg(Type::u32);
    k("mov.u32", iterations, parameters.iterations);
    if (same_code)
        k("add.u32", iterations, iterations, parameters.warm);
    else
        k.loop(parameters.warm, [&] { p.load(); });
    k.loop(iterations, [&](Reg turn) {
        const Reg begin = k.clock_after(p.at());
        k.repeat(loads, [&](int) { p.load(); });
        const Reg end = k.clock_after(p.at());
        recorder.store(begin, end, p);
        if (!same_code) return recorder.go_on();
        const Reg recorded = k.reg(Type::pred);
        k("setp.ge.u32", recorded, turn, parameters.warm);
        recorder.go_on(recorded);
    });
    recorder.finish(parameters.results);
    const Reg words = k.reg(Type::u32);
    k("add.u32", words, parameters.iterations, 1);
    k("shr.u32", words, words, 1);
    append_dump(k, records, words, parameters.results);
    p.store(Mem{parameters.results, 16});
    k.place(leave);
    return k;
}

ptx::KernelBuilder interference_kernel(ptx::Target target, LoadHint hint) {
    ptx::KernelBuilder k(fmt::format("competition_{}", name_of(hint)), target);
    const Reg own_start = k.param(Type::u64, "own_start"), rival_start = k.param(Type::u64, "rival_start");
    const Reg own_turns = k.param(Type::u32, "own_turns"), rival_turns = k.param(Type::u32, "rival_turns"),
              rival_laps = k.param(Type::u32, "rival_laps");
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
    // Each load has waited for the one before, so that no fence is needed; and one may empty the L1.
    const auto enter = [&](std::uint32_t number) {
        k("st.volatile.global.u32", Mem{results, offsetof(InterferenceResults, phase)}, number);
    };
    claim(sm, offsetof(InterferenceResults, own_claim), no_own);
    Follower own(k, hint, {.start = own_start, .texture = texture});
    // The laps before the timed one run through the same code, which some caches hold beside constants.
    k.loop(kOwnLaps, [&](Reg pass) {
        const Reg timed = k.reg(Type::pred);
        k("setp.eq.u32", timed, pass, kOwnLaps - 1);
        k.if_(timed, [&] {
            enter(1);
            wait_for(2);
        });
        append_timed_lap(k, own, own_turns, Mem{results, offsetof(InterferenceResults, begin)},
                         Mem{results, offsetof(InterferenceResults, end)});
    });
    own.store(Mem{results, sizeof(InterferenceResults)});
    const Reg both = k.reg(Type::u32);
    k("set.eq.u32.u32", both, phase, 2);
    k("st.global.u32", Mem{results, offsetof(InterferenceResults, done)}, both);
    k("bra", leave);
    k.place(no_own);
    claim(rival_sm, offsetof(InterferenceResults, rival_claim), leave);
    Follower other(k, hint, {.start = rival_start, .texture = texture});
    wait_for(1);
    k.loop(rival_laps, [&] {
        append_timed_lap(k, other, rival_turns, Mem{results, offsetof(InterferenceResults, rival_begin)},
                         Mem{results, offsetof(InterferenceResults, rival_end)});
    });
    other.store(Mem{results, sizeof(InterferenceResults) + 8});
    enter(2);
    k.place(leave);
    return k;
}

ptx::KernelBuilder link_writer_kernel(ptx::Target target) {
    ptx::KernelBuilder k("write_links", target);
    const Reg order = k.param(Type::u64, "order");
    const Reg count = k.param(Type::u32, "count");
    const Reg texels = k.param(Type::u64, "texels");
    const Reg i = k.thread_index();
    const Reg mine = k.reg(Type::pred);
    const Reg indices = k.reg(Type::pred);
    const Label leave = k.label();
    k("setp.lt.u32", mine, i, count);
    k.unless(mine)("bra", leave);
    // The list is stored with its first address once more at the end.
    const Reg entry = k.element(order, i, Bytes{8});
    const Reg from = k.reg(Type::u64);
    const Reg to = k.reg(Type::u64);
    k("ld.global.u64", from, Mem{entry});
    k("ld.global.u64", to, Mem{entry, 8});
    k("setp.ne.u64", indices, texels, 0);
    k.if_(
        indices,
        [&] {
            const Reg index = k.reg(Type::u32);
            k("sub.u64", to, to, texels);
            k("shr.u64", to, to, 2);
            k("cvt.u32.u64", index, to);
            k("st.global.u32", Mem{from}, index);
        },
        [&] { k("st.global.u64", Mem{from}, to); });
    k.place(leave);
    return k;
}

}  // namespace gputomo::measure
