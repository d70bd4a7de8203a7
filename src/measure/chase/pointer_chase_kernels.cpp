#include "measure/chase/pointer_chase_kernels.hpp"

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

struct ChaseParameters {
    Reg start{}, warm{}, iterations{}, wanted_sm{}, results{}, texture{};
};

ChaseParameters declare_parameters(ptx::KernelBuilder& k, LoadHint hint) {
    const Reg start = k.param(Type::u64, "start");
    const Reg warm = k.param(Type::u32, "warm");
    const Reg iterations = k.param(Type::u32, "iterations");
    const Reg wanted_sm = k.param(Type::u32, "wanted_sm");
    const Reg results = k.param(Type::u64, "results");
    if (hint == LoadHint::constant) static_cast<void>(k.array(constant_array()));
    return {start,     warm,    iterations,
            wanted_sm, results, hint == LoadHint::texture ? k.param(Type::u64, "texture") : Reg{}};
}

/// Lets one block go on: any block if wanted_sm is kAnySm, otherwise the first one on that SM. The flag is the first
/// word of the results.
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

/// Copies `words` words of records from shared to global memory, after the header.
void append_dump(ptx::KernelBuilder& k, Reg records, Reg words, Reg results) {
    const Reg word = k.reg(Type::u32);
    k.loop(words, [&](Reg i) {
        const Reg from = k.reg(Type::u32);
        k("mad.lo.u32", from, i, 4, records);
        k("ld.shared.u32", word, Mem{from});
        k("st.global.u32", Mem{k.element(results, i, Bytes{4}), kHeaderBytes}, word);
    });
}

/// Stores each reading and adds up what the loads returned.
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
    void store(Reg begin, Reg end, ChaseFollower& p) {
        k_("sub.u32", cycles_, start_to_start_ ? begin : end, start_to_start_ ? before_ : begin);
        k_("min.u32", cycles_, cycles_, kLongestReading);
        k_("st.shared.u16", Mem{at_}, cycles_);
        if (start_to_start_) k_("mov.u32", before_, begin);
        p.low(low_);
        // The first clock value gets a second use. If only its difference to the second read were used, some compilers
        // would read it by a slower instruction.
        k_("xor.b32", starts_, starts_, begin);
    }
    void go_on() {
        k_("add.u32", sum_, sum_, low_);
        k_("add.u32", at_, at_, kRecordBytes);
    }
    /// As above, if `when` holds.
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

}  // namespace

TimedCode timed_loads(LoadHint hint, int loads) {
    if (hint == LoadHint::constant) return {.operation = {"LDC"}, .counts = {loads}};
    // The compiler may move the coordinate to the register that the fetch expects.
    if (hint == LoadHint::texture) return {.operation = {"TEX|TLD|TLD4"}, .counts = {loads}, .companions = 2};
    return {.operation = {"LDG", sizeof(device::Address)}, .counts = {loads}};
}

ptx::KernelBuilder average_chase_kernel(ptx::Target target, LoadHint hint, int unroll) {
    ptx::KernelBuilder k(fmt::format("average_chase_{}_x{}", short_name_of(hint), unroll), target);
    const auto parameters = declare_parameters(k, hint);
    // Declared so that both kernels request the same shared memory and leave the same rest to the L1.
    static_cast<void>(k.dynamic_shared());
    const Label leave = k.label();
    append_claim(k, parameters, leave);
    ChaseFollower p(k, hint, parameters.start, parameters.texture);
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
    const auto name = fmt::format("fine_chase_{}", short_name_of(shape.hint));
    ptx::KernelBuilder k(loads == 1 ? name : fmt::format("{}_x{}", name, loads), target);
    const auto parameters = declare_parameters(k, shape.hint);
    const Reg records = k.dynamic_shared();
    const Label leave = k.label();
    append_claim(k, parameters, leave);
    ChaseFollower p(k, shape.hint, parameters.start, parameters.texture);
    Recorder recorder(k, records, shape.start_to_start);
    // Constants share caches with instructions. Their warm-up therefore runs through the recording code, so that later
    // loads fetch no new code.
    const bool same_code = shape.hint == LoadHint::constant;
    const Reg iterations = k.reg(Type::u32);
    k("mov.u32", iterations, parameters.iterations);
    if (same_code)
        k("add.u32", iterations, iterations, parameters.warm);
    else
        k.loop(parameters.warm, [&] { p.load(); });
    k.loop(iterations, [&](Reg iteration) {
        const Reg begin = k.clock_after(p.at());
        k.repeat(loads, [&](int) { p.load(); });
        const Reg end = k.clock_after(p.at());
        recorder.store(begin, end, p);
        if (!same_code) return recorder.go_on();
        const Reg recorded = k.reg(Type::pred);
        k("setp.ge.u32", recorded, iteration, parameters.warm);
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

}  // namespace gputomo::measure
