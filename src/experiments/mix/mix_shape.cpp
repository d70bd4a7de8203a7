#include "experiments/mix/mix_shape.hpp"

#include "experiments/mix/linked_array.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// To settle, to count, and for others to count.
constexpr int kPhases = 3;
/// A turn costs five instructions more than those of the mix: less than 1%.
constexpr int kTurnInstructions = 720;
/// A pointer has 8 bytes and is read by two threads, so that a warp reads one line, as with the 4-byte pointers of Volkov 2016, 5.1.
constexpr int kPointerBytes = 8;
/// Compute capability from which on all GPUs have atomic operations on global memory. On older ones no scheduler prefers old warps.
constexpr int kAtomicsFrom = 20;

struct AccessFacts {
    MixAccess access;
    std::string_view name;
    std::string_view narrow;  ///< of 32 bits
    std::string_view wide;    ///< of a whole pointer; where there is one, lines are read
    std::string_view opcode;
    int bytes;
    /// Accesses of a chain in a turn. They are slow, so that few of them hide what the loop costs, and the last turn ends soon. Where lines are used up, of all chains:
    /// turns are then so short that the lines which there are last for a window of many turns, however many chains share them.
    int most_in_turn;
};

constexpr int kAny = std::numeric_limits<int>::max();
/// What waits for a product waits longer than one instruction can say (15 cycles), so that the compiler adds one that does nothing behind each (`NOP`).
constexpr int kMostProducts = kTurn / 2;
constexpr std::array kFacts{
    AccessFacts{MixAccess::global, "global", "ld.global.b32", "ld.global.b64", "LDG", 4, 16},
    AccessFacts{MixAccess::shared, "shared", "ld.shared.b32", "", "LDS", 4, kAny},
    AccessFacts{MixAccess::sfu, "sfu", "rsqrt.approx.ftz.f32", "", "MUFU", 0, kAny},
    AccessFacts{MixAccess::l1, "l1", "ld.global.ca.b32", "ld.global.ca.b64", "LDG", 4, 256},
    AccessFacts{MixAccess::l2, "l2", "ld.global.cg.b32", "ld.global.cg.b64", "LDG", 4, 64},
    AccessFacts{MixAccess::shared_conflict, "shared_conflict", "ld.shared.b32", "", "LDS", 4, kAny},
    AccessFacts{MixAccess::tensor, "tensor", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "", "HMMA", 0, kMostProducts},
};

const AccessFacts& facts_of(MixAccess access) { return kFacts[static_cast<std::size_t>(access)]; }

bool is_tensor(const MixShape& shape) { return !shape.arithmetic_only && shape.access == MixAccess::tensor; }
bool is_shared(const MixShape& shape) { return !shape.arithmetic_only && (shape.access == MixAccess::shared || shape.access == MixAccess::shared_conflict); }

/// Of a repeating group, joins of pointers not counted. Their upper half is the same for all.
int adds_of(const MixShape& shape) {
    if (shape.arithmetic_only) return 1;
    return shape.alpha - (shape.reads_lines() && shape.alpha > 0 && !shape.moves_vanish ? 1 : 0);
}
/// Loads of a whole pointer of a repeating group: where joining halves costs something, all that no arithmetic follows.
int wide_of(const MixShape& shape) { return shape.reads_lines() && !shape.moves_vanish ? shape.accesses - (shape.alpha > 0 ? 1 : 0) : 0; }
/// Whether a pointer is at last a word, to be joined with its upper half.
bool ends_as_word(const MixShape& shape) { return shape.moves_vanish || shape.alpha > 0; }

struct Chains {
    std::vector<Reg> values;     ///< b32
    std::vector<Reg> addresses;  ///< b64, where lines are read
    Reg upper;                   ///< b32, of all addresses
    Reg word;                    ///< u32, an address in shared memory
    std::vector<Reg> sums;       ///< b32, of products of matrices: three of each chain besides its value
    std::vector<Reg> factors;    ///< b32, of matrices of zeros: products leave sums as they are
};

constexpr int kSumsOfThread = 4, kFactorsLeft = 4, kFactorsRight = 2;

void append_product(ptx::KernelBuilder& k, std::string_view instruction, const Chains& chains, std::size_t i) {
    constexpr std::size_t kOthers = kSumsOfThread - 1;
    const auto others = std::span(chains.sums).subspan(i * kOthers, kOthers);
    const ptx::Vec sums{chains.values[i], others[0], others[1], others[2]};
    const auto left = std::span(chains.factors).first(kFactorsLeft), right = std::span(chains.factors).last(kFactorsRight);
    k(instruction, sums, ptx::Vec(left), ptx::Vec(right), sums);
}

/// ptxas takes a register that was added to for a number and would convert it, were it itself an address in shared memory.
void append_access(ptx::KernelBuilder& k, const MixShape& shape, const Chains& chains, std::size_t i, bool wide) {
    const AccessFacts& facts = facts_of(shape.access);
    const std::string_view narrow = shape.access == MixAccess::sfu && k.target().sm < 20 ? "rsqrt.approx.f32" : facts.narrow;
    const Reg value = chains.values[i];
    if (wide) return k(facts.wide, chains.addresses[i], Mem{chains.addresses[i]});
    if (shape.reads_lines()) return k(narrow, value, Mem{chains.addresses[i]});
    if (is_tensor(shape)) return append_product(k, narrow, chains, i);
    if (!is_shared(shape)) return k(narrow, value, value);
    if (shape.moves_vanish) k("mov.b32", chains.word, value);
    k(narrow, value, Mem{shape.moves_vanish ? chains.word : value});
}

/// The chains side by side, one instruction of each at a time. Accesses come last: what the loop costs is hidden behind them.
void append_turn(ptx::KernelBuilder& k, const MixShape& shape, const Chains& chains, Reg zero) {
    const auto each = [&](auto&& append) {
        for (std::size_t i = 0; i < chains.values.size(); ++i) append(i);
    };
    const int wide = wide_of(shape);
    for (int group = 0; group < shape.groups(); ++group) {
        for (int add = 0; add < adds_of(shape); ++add) each([&](std::size_t i) { k("add.rn.f32", chains.values[i], chains.values[i], zero); });
        for (int access = 0; access < shape.accesses && !shape.arithmetic_only; ++access) {
            const bool joins = shape.reads_lines() && (shape.moves_vanish || (access == 0 && shape.alpha > 0));
            if (joins) each([&](std::size_t i) { k("mov.b64", chains.addresses[i], ptx::Vec{chains.values[i], chains.upper}); });
            each([&](std::size_t i) { append_access(k, shape, chains, i, access < wide); });
        }
    }
}

/// The word that a thread of a mix of shared loads reads again and again points to itself.
void start_in_shared(ptx::KernelBuilder& k, const MixShape& shape, const Chains& chains) {
    Reg word = k.dynamic_shared();
    if (shape.access == MixAccess::shared_conflict) {
        const Reg memory = word;
        word = k.reg(Type::u32);
        k("mad.lo.u32", word, k.special(SpecialRegister::laneid), kPointerBytes, memory);  // every second word: two of each bank
    }
    k("st.shared.b32", Mem{word}, word);
    k("bar.sync", 0);
    for (const Reg value : chains.values) k("mov.b32", value, word);
}

void start_at_lines(ptx::KernelBuilder& k, const Chains& chains, const LineArguments& lines) {
    const Reg warp = k.reg(Type::u32), chain = k.reg(Type::u32);
    k("shr.u32", warp, k.thread_index(), 5);
    for (std::size_t i = 0; i < chains.values.size(); ++i) {
        k("mad.lo.u32", chain, warp, static_cast<int>(chains.values.size()), static_cast<int>(i));
        k("mov.b64", chains.addresses[i], line_address(k, lines, chain));
        k("mov.b64", ptx::Vec{chains.values[i], chains.upper}, chains.addresses[i]);
    }
}

/// Zeros that ptxas does not know to be the same: it would use the registers of all but one in between, and move that one there again and again.
void start_products(ptx::KernelBuilder& k, const Chains& chains, Reg zero) {
    for (std::size_t i = 0; i < chains.factors.size(); ++i) {
        k("mul.lo.u32", chains.factors[i], k.special(SpecialRegister::laneid), static_cast<int>(i) + 3);
        k("and.b32", chains.factors[i], chains.factors[i], zero);
    }
    for (const Reg sum : chains.sums) k("mov.b32", sum, kMixOne);
}

struct Gate {
    Reg word, goal;  ///< blocks that have come, and what that is when all have
    Reg origins;     ///< by SM; 0 for none yet
};

/// The time that the first block of the SM comes here with. One thread of a block asks: many atomic operations on a word take longer than a turn.
Reg append_origin(ptx::KernelBuilder& k, const Gate& gate) {
    const Reg mine = k.reg(Type::b32), set = k.reg(Type::b32), first = k.reg(Type::pred);
    k("or.b32", mine, k.clock32(), 1);
    k("atom.global.cas.b32", set, Mem{k.element(gate.origins, k.special(SpecialRegister::smid), Bytes{4})}, 0, mine);
    k("setp.eq.u32", first, set, 0);
    k("selp.b32", set, mine, set, first);
    return set;
}

/// All blocks come, then all go on; the origin of the SM's times.
Reg append_gate(ptx::KernelBuilder& k, const Gate& gate, Reg arrival) {
    const Reg first = k.reg(Type::pred), origin = k.reg(Type::u32), shared = k.shared("origin", Bytes{4});
    k("setp.eq.u32", first, k.special(SpecialRegister::tid_x), 0);
    k.if_(first, [&] {
        const Reg come = k.reg(Type::u32), missing = k.reg(Type::u32), spent = k.reg(Type::u32), more = k.reg(Type::pred), soon = k.reg(Type::pred);
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

/// A warp's turns so far, and when the last one began and ended.
struct Turns {
    Reg done, most, begin, end;
};

/// Turns until the clock has reached `limit`.
void append_turns(ptx::KernelBuilder& k, const MixShape& shape, const Chains& chains, Reg zero, Reg limit, const Turns& turns) {
    const ptx::Label top = k.label();
    const Reg spent = k.reg(Type::u32), more = k.reg(Type::pred);
    k.place(top);
    append_turn(k, shape, chains, zero);
    k("add.u32", turns.done, turns.done, 1);
    k("mov.u32", turns.begin, turns.end);
    k("mov.u32", turns.end, k.clock32());
    k("sub.u32", spent, turns.end, limit);
    k("setp.lt.s32", more, spent, 0);
    if (shape.reads_lines()) {
        const Reg within = k.reg(Type::pred);
        k("setp.lt.u32", within, turns.done, turns.most);
        k("and.pred", more, more, within);
    }
    k.when(more)("bra", top);
}

Reg sum_of(ptx::KernelBuilder& k, const MixShape& shape, const Chains& chains) {
    const Reg sum = k.reg(Type::u32), upper = k.reg(Type::b32);
    k("mov.b32", sum, 0);
    for (std::size_t i = 0; i < chains.values.size(); ++i) {
        if (shape.reads_lines() && !ends_as_word(shape)) k("mov.b64", ptx::Vec{chains.values[i], upper}, chains.addresses[i]);
        k("add.u32", sum, sum, chains.values[i]);
    }
    return sum;
}

}  // namespace

std::span<const MixAccess> mix_accesses() {
    static constexpr auto kAll = [] {
        std::array<MixAccess, kFacts.size()> all{};
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = kFacts[i].access;
        return all;
    }();
    return kAll;
}

std::string_view name_of(MixAccess access) { return facts_of(access).name; }

std::string mix_access_names() {
    std::vector<std::string_view> names;
    for (const auto& facts : kFacts) names.push_back(facts.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<MixAccess> mix_access_named(std::string_view name) {
    const auto found = std::ranges::find(kFacts, name, &AccessFacts::name);
    return found == kFacts.end() ? std::nullopt : std::optional(found->access);
}

bool MixShape::reads_lines() const { return !arithmetic_only && !facts_of(access).wide.empty(); }

int MixShape::groups() const {
    const int room = turn / (group() * chains);
    const int sharing = access == MixAccess::global ? chains : 1;
    return std::max(1, arithmetic_only ? room : std::min(room, facts_of(access).most_in_turn / (accesses * sharing)));
}

std::string MixShape::name() const {
    if (arithmetic_only) return fmt::format("mix_adds_x{}", chains);
    return fmt::format("mix_{}_{}_{}_x{}", name_of(access), accesses, alpha, chains);
}

ptx::KernelBuilder mix_kernel(ptx::Target target, const MixShape& shape) {
    ptx::KernelBuilder k(shape.name(), target);
    const LineArguments lines = line_parameters(k);
    const Reg most = k.param(Type::u32, "most_turns"), settle = k.param(Type::u32, "settle"), window = k.param(Type::u32, "window"),
              after = k.param(Type::u32, "after");
    const Reg zero = k.param(Type::f32, "zero");
    const Reg records = k.param(Type::u64, "records"), word = k.param(Type::u64, "gate"), goal = k.param(Type::u32, "goal");
    const Gate gate{word, goal, k.param(Type::u64, "origins")};
    const bool gated = target.sm >= kAtomicsFrom;
    const Chains chains{k.regs(Type::b32, shape.chains),
                        k.regs(Type::b64, shape.reads_lines() ? shape.chains : 0),
                        k.reg(Type::b32),
                        k.reg(Type::u32),
                        k.regs(Type::b32, is_tensor(shape) ? shape.chains * (kSumsOfThread - 1) : 0),
                        k.regs(Type::b32, is_tensor(shape) ? kFactorsLeft + kFactorsRight : 0)};
    if (is_tensor(shape)) start_products(k, chains, zero);
    if (is_shared(shape))
        start_in_shared(k, shape, chains);
    else
        static_cast<void>(k.dynamic_shared());
    if (shape.reads_lines())
        start_at_lines(k, chains, lines);
    else if (!is_shared(shape))
        for (const Reg value : chains.values) k("mov.b32", value, kMixOne);
    const Reg warp = k.reg(Type::u32), first_lane = k.reg(Type::pred), limit = k.reg(Type::u32), at = k.reg(Type::u64);
    k("shr.u32", warp, k.thread_index(), 5);
    k("setp.eq.u32", first_lane, k.special(SpecialRegister::laneid), 0);
    k("mov.u64", at, k.element(records, warp, Bytes{sizeof(MixRecord)}));
    const auto store = [&](std::size_t offset, Reg value, std::size_t behind = 0) {
        k.when(first_lane)("st.global.u32", Mem{at, static_cast<std::int64_t>(offset) - static_cast<std::int64_t>(behind)}, value);
    };
    const Reg arrival = k.clock_after(chains.values.back());
    const Reg common = gated ? append_gate(k, gate, arrival) : arrival;
    const Turns turns{k.reg(Type::u32), most, k.reg(Type::u32), k.clock_after(common)};
    const Reg origin = gated ? common : turns.end;
    // What is stored at once takes no register in the loop: many chains on many warps leave few.
    store(offsetof(MixRecord, arrival), arrival);
    store(offsetof(MixRecord, start), turns.end);
    store(offsetof(MixRecord, origin), origin);
    store(offsetof(MixRecord, sm), k.special(SpecialRegister::smid));
    k("mov.u32", turns.done, 0);
    k("add.u32", limit, origin, settle);
    k.loop(kPhases, [&](Reg phase) {
        append_turns(k, shape, chains, zero, limit, turns);
        store(offsetof(MixRecord::Mark, time), turns.end);
        store(offsetof(MixRecord::Mark, turns), turns.done);
        store(offsetof(MixRecord::Mark, begin), turns.begin);
        k("add.u64", at, at, static_cast<int>(sizeof(MixRecord::Mark)));
        const Reg first = k.reg(Type::pred);
        k("setp.eq.u32", first, phase, 0);
        k.when(first)("add.u32", limit, limit, window);
        k.when(!first)("add.u32", limit, limit, after);
    });
    constexpr std::size_t kMarks = kPhases * sizeof(MixRecord::Mark);
    store(offsetof(MixRecord, pointers), sum_of(k, shape, chains), kMarks);
    store(offsetof(MixRecord, turns), turns.done, kMarks);
    return k;
}

std::vector<CodeExpectation> expected_code(const MixShape& shape) {
    const int groups = shape.groups() * shape.chains, adds = groups * adds_of(shape);
    const AccessFacts& facts = facts_of(shape.access);
    std::vector<CodeExpectation> expected;
    if (adds > 0) expected.emplace_back(LoopedCode{{"FADD"}, adds});
    if (shape.arithmetic_only) return expected;
    const int wide = wide_of(shape);
    if (wide > 0) expected.emplace_back(LoopedCode{{facts.opcode, kPointerBytes}, groups * wide});
    if (wide < shape.accesses) expected.emplace_back(LoopedCode{{facts.opcode, facts.bytes}, groups * (shape.accesses - wide)});
    return expected;
}

}  // namespace gputomo::experiments
