// What runs on the device for LinkWriter and PointerChase.
#include "experiments/pointer_chase_kernels.hpp"

#include <fmt/format.h>

#include <string>

namespace gputomo::experiments {
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
    }
    return {};
}

std::string_view name_of(LoadHint hint) {
    switch (hint) {
        case LoadHint::all: return "ca";
        case LoadHint::l2_only: return "cg";
        case LoadHint::none: return "volatile";
    }
    return {};
}

struct ChaseParameters {
    Reg start, warm, turns, wanted_sm, results;
};

ChaseParameters declare_parameters(ptx::KernelBuilder& k) {
    const Reg start = k.param(Type::u64, "start");
    const Reg warm = k.param(Type::u32, "warm");
    const Reg turns = k.param(Type::u32, "turns");
    const Reg wanted_sm = k.param(Type::u32, "wanted_sm");
    const Reg results = k.param(Type::u64, "results");
    return {start, warm, turns, wanted_sm, results};
}

/// Lets one block go on: any where wanted_sm is kAnySm, else the first on that SM. The flag is the first word of the results.
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

/// Follows `count` links without timing them.
void append_warm_up(ptx::KernelBuilder& k, LoadHint hint, Reg p, Reg count) {
    k.loop(count, [&] { k(load_of(hint), p, Mem{p}); });
}

/// Copies the records from shared to global memory, behind the header.
void append_dump(ptx::KernelBuilder& k, Reg records, Reg count, Reg results) {
    const Reg word = k.reg(Type::u32);
    k.loop(count, [&](Reg i) {
        const Reg from = k.reg(Type::u32);
        k("mad.lo.u32", from, i, kRecordBytes, records);
        const Reg to = k.element(results, i, Bytes{kRecordBytes});
        for (std::int64_t offset = 0; offset < kRecordBytes; offset += 4) {
            k("ld.shared.u32", word, Mem{from, offset});
            k("st.global.u32", Mem{to, kHeaderBytes + offset}, word);
        }
    });
}

}  // namespace

ptx::KernelBuilder average_chase_kernel(ptx::Target target, LoadHint hint, int unroll) {
    ptx::KernelBuilder k(fmt::format("average_chase_{}_x{}", name_of(hint), unroll), target);
    const auto parameters = declare_parameters(k);
    // Named so that both kernels ask for the same shared memory and leave the same rest to the L1.
    static_cast<void>(k.dynamic_shared());
    const Label leave = k.label();
    append_claim(k, parameters, leave);
    const Reg p = k.reg(Type::u64);
    k("mov.u64", p, parameters.start);
    append_warm_up(k, hint, p, parameters.warm);
    const Reg begin = k.clock_after(p);
    k.loop(parameters.turns, [&] { k.repeat(unroll, [&](int) { k(load_of(hint), p, Mem{p}); }); });
    const Reg end = k.clock_after(p);
    k("st.global.u32", Mem{parameters.results, 4}, begin);
    k("st.global.u32", Mem{parameters.results, 8}, end);
    k("st.global.u64", Mem{parameters.results, 16}, p);
    k.place(leave);
    return k;
}

ptx::KernelBuilder fine_chase_kernel(ptx::Target target, const PointerChase::Shape& shape) {
    ptx::KernelBuilder k(fmt::format("fine_chase_{}", name_of(shape.hint)), target);
    const auto parameters = declare_parameters(k);
    const Reg records = k.dynamic_shared();
    const Label leave = k.label();
    append_claim(k, parameters, leave);
    const Reg p = k.reg(Type::u64);
    const Reg low = k.reg(Type::u32);
    const Reg record = k.reg(Type::u32);
    k("mov.u64", p, parameters.start);
    k("mov.u32", record, records);
    append_warm_up(k, shape.hint, p, parameters.warm);
    k.loop(parameters.turns, [&] {
        const Reg begin = k.clock_after(p);
        k(load_of(shape.hint), p, Mem{p});
        const Reg end = k.clock_after(p);
        // Both readings are kept: where only their difference is, ptxas reads the first one by a slower instruction.
        k("cvt.u32.u64", low, p);
        k("st.shared.u32", Mem{record}, begin);
        k("st.shared.u32", Mem{record, 4}, end);
        k("st.shared.u32", Mem{record, 8}, low);
        k("add.u32", record, record, kRecordBytes);
    });
    append_dump(k, records, parameters.turns, parameters.results);
    k("st.global.u64", Mem{parameters.results, 16}, p);
    k.place(leave);
    return k;
}

ptx::KernelBuilder link_writer_kernel(ptx::Target target) {
    ptx::KernelBuilder k("write_links", target);
    const Reg order = k.param(Type::u64, "order");
    const Reg count = k.param(Type::u32, "count");
    const Reg i = k.thread_index();
    const Reg mine = k.reg(Type::pred);
    const Label leave = k.label();
    k("setp.lt.u32", mine, i, count);
    k.unless(mine)("bra", leave);
    // The list is stored with its first address once more at the end.
    const Reg entry = k.element(order, i, Bytes{8});
    const Reg from = k.reg(Type::u64);
    const Reg to = k.reg(Type::u64);
    k("ld.global.u64", from, Mem{entry});
    k("ld.global.u64", to, Mem{entry, 8});
    k("st.global.u64", Mem{from}, to);
    k.place(leave);
    return k;
}

}  // namespace gputomo::experiments
