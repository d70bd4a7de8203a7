#include "measure/code_fetch/instruction_chase_kernel.hpp"

#include <fmt/format.h>

namespace gputomo::measure::code_chase {
namespace {

using ptx::Label;
using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// A block that waits for the other one gives up after this many polls, so that the kernel always ends.
constexpr std::uint32_t kMostSpins = 1 << 20;
/// Additions of a slot, whose last instruction jumps back, and the registers that they work on.
constexpr std::uint32_t kSlotSums = kSlotInstructions - 1, kRegisters = 2;
/// The whole constant memory of a module.
constexpr Bytes kConstants{64 * 1024};
/// No constant cache so far has shorter lines.
constexpr std::int64_t kConstantStride = 64;
/// Groups of the jump table, see entries_of(), and entries of a line.
constexpr std::uint32_t kGroups = 8, kEntriesOfLine = kTableLine / kEntryBytes;

/// A slot's instructions work on a few registers in a pattern that no compiler can fold. Each register is one more
/// value to merge where all slots meet: with one register for each instruction, compilation takes three times as long.
/// The last constant is the slot's own, so that no two slots are alike and the compiler neither drops nor merges any.
/// The other constants are few, because a simulated warp keeps each literal of its kernel.
void append_slot(ptx::KernelBuilder& k, std::uint32_t number, const std::vector<Reg>& sums, Label dispatch) {
    for (std::uint32_t i = 0; i < kSlotSums; ++i) {
        const Reg sum = sums[i % sums.size()];
        const std::uint32_t value =
            i + 1 < kSlotSums ? 0x10000001U + (number >> i & 1U) * 0x10003U : 0x20000001U + number * 0x10003U;
        k(i / sums.size() % 2 == 0 ? "add.u32" : "xor.b32", sum, sum, value);
    }
    k("bra", dispatch);
}

struct ChaseRegisters {
    Reg order, count, warm, visits, wanted_sm, results, constants, rival_sm, rival_thread;
    Reg records;  ///< where this block's records go, less the header
};

ChaseRegisters declare_parameters(ptx::KernelBuilder& k) {
    const Reg order = k.param(Type::u64, "order");
    const Reg count = k.param(Type::u32, "count");
    const Reg warm = k.param(Type::u32, "warm");
    const Reg visits = k.param(Type::u32, "visits");
    const Reg wanted_sm = k.param(Type::u32, "wanted_sm");
    const Reg results = k.param(Type::u64, "results");
    const Reg constants = k.param(Type::u32, "constants");
    const Reg rival_sm = k.param(Type::u32, "rival_sm");
    const Reg rival_thread = k.param(Type::u32, "rival_thread");
    return {order, count, warm, visits, wanted_sm, results, constants, rival_sm, rival_thread, k.reg(Type::u64)};
}

/// Lets the first thread of one block go on, and on the rival's SM the rival's thread of another block. The rival's
/// order and records follow the first block's.
void append_claim(ptx::KernelBuilder& k, const ChaseRegisters& p, Label leave) {
    const Reg any = k.reg(Type::pred), may = k.reg(Type::pred), free = k.reg(Type::pred), first = k.reg(Type::pred),
              other = k.reg(Type::pred), taken = k.reg(Type::u32), continues = k.reg(Type::u32),
              here = k.special(SpecialRegister::smid), thread = k.special(SpecialRegister::tid_x);
    const Reg of_block = k.shared("goes_on", Bytes{4});
    const Label claimed = k.label();
    const auto leave_unless_equal = [&](Reg value, auto wanted) {
        k("setp.ne.u32", other, value, wanted);
        k.when(other)("bra", leave);
    };
    const Reg slot = k.reg(Type::u64);
    k("mov.u64", p.records, p.results);
    k("add.u64", slot, p.results, kWarpSlot);
    k("mov.u32", continues, 0);
    k("setp.eq.u32", any, p.wanted_sm, kAnySm);
    k("setp.eq.or.u32", may, here, p.wanted_sm, any);
    k("setp.eq.and.u32", may, thread, 0, may);
    k.if_(may, [&] {
        k("atom.global.exch.b32", taken, Mem{p.results}, 1);
        k("setp.eq.u32", free, taken, 0);
        k("selp.u32", continues, 1, 0, free);
    });
    // No two warps of one block compete for the claim.
    k("setp.eq.u32", first, thread, 0);
    k.when(first)("st.shared.u32", Mem{of_block}, continues);
    k("bar.sync", 0);
    k("setp.ne.u32", other, continues, 0);
    k.when(other)("bra", claimed);
    k("ld.shared.u32", taken, Mem{of_block});
    leave_unless_equal(taken, 0);
    leave_unless_equal(here, p.rival_sm);
    leave_unless_equal(thread, p.rival_thread);
    k("atom.global.exch.b32", taken, Mem{p.results, kRivalClaim}, 1);
    leave_unless_equal(taken, 0);
    const Reg bytes = k.reg(Type::u64);
    k("mul.wide.u32", bytes, p.count, 4);
    k("add.u64", p.order, p.order, bytes);
    k("mul.wide.u32", bytes, p.visits, 4);
    k("add.u64", p.records, p.records, bytes);
    k("add.u64", p.records, p.records, 4);
    k("add.u64", slot, p.results, kRivalsSlot);
    k.place(claimed);
    k("st.global.u32", Mem{slot}, k.special(SpecialRegister::warpid));
}

/// A slot after the others that waits for the other block.
void append_meeting(ptx::KernelBuilder& k, const ChaseRegisters& p) {
    const Reg before = k.reg(Type::u32), wanted = k.reg(Type::u32), come = k.reg(Type::u32), spins = k.reg(Type::u32),
              alone = k.reg(Type::pred), patient = k.reg(Type::pred);
    k("atom.global.add.u32", before, Mem{p.results, kMeetings}, 1);
    k("and.b32", wanted, before, ~1U);
    k("add.u32", wanted, wanted, 2);
    k("mov.u32", spins, 0);
    k.while_(
        [&] {
            k("ld.volatile.global.u32", come, Mem{p.results, kMeetings});
            k("add.u32", spins, spins, 1);
            k("setp.lt.u32", alone, come, wanted);
            k("setp.lt.and.u32", patient, spins, kMostSpins, alone);
            return ptx::Condition(patient);
        },
        [] {});
}

/// The slot after the others that reads constants.
void append_constants(ptx::KernelBuilder& k, const ChaseRegisters& p, Reg base, Reg sum) {
    const Reg offset = k.reg(Type::u32), word = k.reg(Type::u32), more = k.reg(Type::pred), at = k.reg(Type::u64);
    k("mov.u32", offset, 0);
    k("mov.u64", at, base);
    k.while_(
        [&] {
            k("setp.lt.u32", more, offset, p.constants);
            return ptx::Condition(more);
        },
        [&] {
            k("ld.const.u32", word, Mem{at});
            k("add.u32", sum, sum, word);
            k("add.u64", at, at, kConstantStride);
            k("add.u32", offset, offset, kConstantStride);
        });
}

/// Registers that the dispatcher keeps.
struct ChaseState {
    Reg list, at, end, record, visit, total;
};

void append_filling(ptx::KernelBuilder& k, std::uint32_t count, Reg sum) {
    // Two operations alternate so that the compiler cannot fold them into one.
    for (std::uint32_t i = 0; i < count; ++i) k(i % 2 == 0 ? "add.u32" : "xor.b32", sum, sum, 0x1235U + 2 * i);
}

/// Stores one clock reading after the other; leaves after all visits.
void append_dispatcher(ptx::KernelBuilder& k, const ChaseState& s, const ChaseRegisters& p,
                       const std::vector<Label>& targets, Label done) {
    const Reg ended = k.reg(Type::pred), warmed = k.reg(Type::pred), pass = k.reg(Type::pred), next = k.reg(Type::u32);
    k("setp.eq.u32", pass, s.at, s.end);
    k("selp.u32", s.at, s.list, s.at, pass);
    k("st.shared.u32", Mem{s.record}, k.clock32());
    k("ld.shared.u32", next, Mem{s.at});
    k("setp.ge.u32", warmed, s.visit, p.warm);
    k.when(warmed)("add.u32", s.record, s.record, 4);
    k("add.u32", s.at, s.at, 4);
    k("setp.ge.u32", ended, s.visit, s.total);
    k.when(ended)("bra", done);
    k("add.u32", s.visit, s.visit, 1);
    k.branch_table(next, targets);
}

/// Copies the sequence to shared memory, from `list` on.
void append_copy(ptx::KernelBuilder& k, const ChaseRegisters& p, Reg list) {
    k.loop(p.count, [&](Reg i) {
        const Reg slot = k.reg(Type::u32), to = k.reg(Type::u32);
        k("ld.global.u32", slot, Mem{k.element(p.order, i, Bytes{4})});
        k("mad.lo.u32", to, i, 4, list);
        k("st.shared.u32", Mem{to}, slot);
    });
}

void append_dump(ptx::KernelBuilder& k, const ChaseRegisters& p, Reg records) {
    const Reg count = k.reg(Type::u32);
    k("add.u32", count, p.visits, 1);
    k.loop(count, [&](Reg i) {
        const Reg from = k.reg(Type::u32), word = k.reg(Type::u32);
        k("mad.lo.u32", from, i, 4, records);
        k("ld.shared.u32", word, Mem{from});
        k("st.global.u32", Mem{k.element(p.records, i, Bytes{4}), kHeaderBytes}, word);
    });
}

}  // namespace

ptx::KernelBuilder chase_kernel(ptx::Target target, std::uint32_t slots, Filling filling) {
    ptx::KernelBuilder k(fmt::format("instruction_chase_{}", slots), target);
    const auto p = declare_parameters(k);
    const Reg list = k.dynamic_shared();
    const Reg constants =
        k.array({.name = "constants", .space = ptx::Space::constant, .type = Type::u32, .size = kConstants});
    const Label leave = k.label(), dispatch = k.label(), done = k.label();
    append_claim(k, p, leave);
    append_copy(k, p, list);
    const ChaseState s{list, k.reg(Type::u32), k.reg(Type::u32), k.reg(Type::u32), k.reg(Type::u32), k.reg(Type::u32)};
    const Reg records = k.reg(Type::u32), filled = k.reg(Type::u32);
    k("mov.u32", s.at, list);
    k("mad.lo.u32", s.end, p.count, 4, list);
    k("mov.u32", records, s.end);
    k("mov.u32", s.record, s.end);
    k("mov.u32", s.visit, 0);
    k("add.u32", s.total, p.warm, p.visits);
    const std::vector<Reg> sums = k.regs(Type::u32, kRegisters);
    const Reg thread = k.special(SpecialRegister::tid_x);
    for (const Reg sum : sums) k("mov.u32", sum, thread);
    k("mov.u32", filled, thread);
    append_filling(k, filling.before, filled);
    std::vector<Label> targets;
    for (std::uint32_t i = 0; i < slots + kFurtherEntries; ++i) targets.push_back(k.label());
    std::vector<Label> table(entries_of(slots), targets.front());
    for (std::uint32_t i = 0; i < slots; ++i) table[entry_of(i, slots)] = targets[i];
    table.insert(table.end(), targets.begin() + slots, targets.end());
    k.place(dispatch);
    append_filling(k, filling.within, filled);
    append_dispatcher(k, s, p, table, done);
    for (std::uint32_t i = 0; i < slots; ++i) {
        k.place(targets[i]);
        append_slot(k, i, sums, dispatch);
    }
    k.place(targets[slots + kConstantsEntry]);
    append_constants(k, p, constants, sums.front());
    k("bra", dispatch);
    k.place(targets[slots + kMeetingEntry]);
    append_meeting(k, p);
    k("bra", dispatch);
    k.place(done);
    append_dump(k, p, records);
    for (const Reg sum : sums) k("st.volatile.global.u32", Mem{p.results, 4}, sum);
    k("st.volatile.global.u32", Mem{p.results, 4}, filled);
    k.place(leave);
    return k;
}

std::uint32_t entries_of(std::uint32_t slots) {
    const std::uint32_t of_group = (slots + kGroups - 1) / kGroups;
    return kGroups * ((of_group + kEntriesOfLine - 1) / kEntriesOfLine * kEntriesOfLine);
}

std::uint32_t entry_of(std::uint32_t slot, std::uint32_t slots) {
    const std::uint32_t group = slot % kGroups, reversed = (group & 1U) << 2U | (group & 2U) | group >> 2U;
    return reversed * (entries_of(slots) / kGroups) + slot / kGroups;
}

std::uint64_t visits_of_lines(std::uint64_t lines) { return lines / kGroups * kGroups * kEntriesOfLine; }

}  // namespace gputomo::measure::code_chase
