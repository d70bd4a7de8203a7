// Moves, predicates as words, special registers, and exchanges between the lanes of a warp.
#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/exec/program.hpp"
#include "sim/exec/shuffle.hpp"
#include "sim/machine_code/warp.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

void mov(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = a[l]; });
}

void nothing(Warp&, const Step&, std::uint32_t) {}

/// LEPC: the address of an instruction, as calls take it.
void code_address(Warp& warp, const Step& step, std::uint32_t mask) {
    std::uint32_t *const low = warp.result(step), *const high = warp.result(step, 1);
    for_lanes(mask, [&](int l) {
        low[l] = static_cast<std::uint32_t>(step.target);
        high[l] = static_cast<std::uint32_t>(step.target >> 32);
    });
}

/// The predicates of a lane as the lowest seven bits of a word.
std::uint32_t predicate_word(const std::array<std::uint32_t, 8>& predicates, int lane) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 7; ++i) word |= ((predicates[i] >> lane) & 1) << i;
    return word;
}

void p2r(Warp& warp, const Step& step, std::uint32_t mask) {
    const auto& predicates = step.destination.uniform ? warp.uniform_predicates : warp.predicates;
    if (!step.destination.uniform)
        for (std::uint8_t i = 0; i < 7; ++i) (void)warp.holds({.number = i});
    const View base = warp.view(step, 0), chosen = warp.view(step, 1);
    const unsigned shift = 8U * step.instruction.value(Modifier::byte);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const std::uint32_t bits = chosen[l] & 0x7F;
        out[l] = (base[l] & ~(bits << shift)) | (predicate_word(predicates, l) & bits) << shift;
    });
}

void r2p(Warp& warp, const Step& step, std::uint32_t mask) {
    const View word = warp.view(step, 0), chosen = warp.view(step, 1);
    const unsigned shift = 8U * step.instruction.value(Modifier::byte);
    const bool uniform = step.instruction.operation == Operation::UR2UP;
    for (std::uint8_t i = 0; i < 7; ++i) {
        std::uint32_t bits = 0, set = 0;
        for_lanes(mask, [&](int l) {
            set |= ((chosen[l] >> i) & 1) << l;
            bits |= ((word[l] >> (shift + i)) & 1) << l;
        });
        if ((set & mask) != 0) warp.set_predicate({.number = i, .uniform = uniform}, bits, set & mask);
    }
}

/// The first lane that takes part decides a uniform register. The predicate holds for lanes with another value; .OR
/// keeps those for which it held before. A loop over the different values of a warp goes on with them.
void r2ur(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0);
    const std::uint32_t chosen = a[std::countr_zero(mask)];
    const PredicateSource& predicate = step.predicate_out[0];
    const bool keeps = step.instruction.form->row->modifiers.find(".OR") != std::string_view::npos;
    std::uint32_t others = keeps ? warp.holds(predicate) : 0;
    for_lanes(mask, [&](int l) { others |= static_cast<std::uint32_t>(a[l] != chosen) << l; });
    *warp.result(step) = chosen;
    warp.set_predicate(predicate, others, mask);
}

/// Special registers by number, as the table of src/sass names them.
enum : std::uint8_t {
    kLaneId = 0,
    kClock = 1,
    kVirtualConfiguration = 2,
    kVirtualId = 3,
    kThread = 32,
    kThreadX = 33,
    kThreadY = 34,
    kThreadZ = 35,
    kBlockX = 37,
    kBlockY = 38,
    kBlockZ = 39,
    kLocalHigh = 46,
    kSharedHigh = 47,
    kSharedLow = 48,
    kLocalLow = 52,
    kLaneMaskEqual = 56,
    kLaneMaskLess = 57,
    kLaneMaskLessEqual = 58,
    kLaneMaskGreater = 59,
    kLaneMaskGreaterEqual = 60,
    kVirtualSm = 67,
    kClockLow = 80,
    kClockHigh = 81,
    kTimerLow = 82,
    kTimerHigh = 83,
    kClusterBlock = 136,
    kZero = 255
};

/// Where SR_VIRTID and SR_VIRTCFG have the number of a warp on its SM, and the count of these numbers. An H200 has the
/// SM's number in SR_VIRTID, too. What the other bits of SR_VIRTCFG hold is not known; compilers cut them off.
constexpr unsigned kNumberShift = 8, kSmShift = 20;

bool is_clock(std::uint8_t number) { return number == kClock || (number >= kClockLow && number <= kTimerHigh); }

bool known_special(std::uint8_t number) {
    constexpr std::uint8_t kKnown[] = {kLaneId,
                                       kClock,
                                       kVirtualConfiguration,
                                       kVirtualId,
                                       kThread,
                                       kThreadX,
                                       kThreadY,
                                       kThreadZ,
                                       kBlockX,
                                       kBlockY,
                                       kBlockZ,
                                       kLocalHigh,
                                       kSharedHigh,
                                       kSharedLow,
                                       kLocalLow,
                                       kLaneMaskEqual,
                                       kLaneMaskLess,
                                       kLaneMaskLessEqual,
                                       kLaneMaskGreater,
                                       kLaneMaskGreaterEqual,
                                       kVirtualSm,
                                       kClockLow,
                                       kClockHigh,
                                       kTimerLow,
                                       kTimerHigh,
                                       kClusterBlock,
                                       kZero};
    return std::ranges::find(kKnown, number) != std::end(kKnown);
}

std::uint32_t special_of(const Warp& warp, std::uint8_t number, int lane) {
    const BlockState& block = *warp.block;
    const auto l = static_cast<std::uint32_t>(lane);
    const std::uint32_t thread = warp.number * kWarpSize + l;
    const std::uint32_t x = thread % block.block[0], y = thread / block.block[0] % block.block[1],
                        z = thread / block.block[0] / block.block[1];
    switch (number) {
        case kLaneId: return l;
        case kThread: return x | y << 16 | z << 26;
        case kThreadX: return x;
        case kThreadY: return y;
        case kThreadZ: return z;
        case kBlockX: return block.index[0];
        case kBlockY: return block.index[1];
        case kBlockZ: return block.index[2];
        case kLocalHigh: return static_cast<std::uint32_t>(kLocalWindow >> 32);
        case kSharedHigh: return static_cast<std::uint32_t>(kSharedWindow >> 32);
        case kLaneMaskEqual: return 1U << l;
        case kLaneMaskLess: return (1U << l) - 1;
        case kLaneMaskLessEqual: return (2U << l) - 1;
        case kLaneMaskGreater: return ~((2U << l) - 1);
        case kLaneMaskGreaterEqual: return ~((1U << l) - 1);
        case kVirtualSm: return block.sm;
        case kVirtualId: return block.sm << kSmShift | warp.slot << kNumberShift;
        case kVirtualConfiguration:
            if (block.warps_of_sm == 0)
                throw LaneFault(lane, "how many warps an SM holds is not known without a described GPU");
            return block.warps_of_sm << kNumberShift;
        case kClusterBlock: return block.rank;
        case kClock:
        case kClockLow: return static_cast<std::uint32_t>(block.clock);
        case kClockHigh: return static_cast<std::uint32_t>(block.clock >> 32);
        case kTimerLow: return static_cast<std::uint32_t>(block.nanoseconds);
        case kTimerHigh: return static_cast<std::uint32_t>(block.nanoseconds >> 32);
        default: return 0;
    }
}

void s2r(Warp& warp, const Step& step, std::uint32_t mask) {
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = special_of(warp, step.special, l); });
}

/// CS2R reads a pair of special registers unless it says .32.
void cs2r(Warp& warp, const Step& step, std::uint32_t mask) {
    std::uint32_t *const low = warp.result(step), *const high = warp.result(step, 1);
    const bool pair = step.instruction.value(Modifier::clock_width) != 0;
    const auto next = static_cast<std::uint8_t>(step.special + (step.special == kZero ? 0 : 1));
    for_lanes(mask, [&](int l) {
        low[l] = special_of(warp, step.special, l);
        if (pair) high[l] = special_of(warp, next, l);
    });
}

void b2r(Warp& warp, const Step& step, std::uint32_t mask) {
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = warp.barrier_result; });
    warp.set_predicate(step.predicate_out[0], warp.barrier_result != 0 ? kAllLanes : 0, mask);
}

void vote(Warp& warp, const Step& step, std::uint32_t mask) {
    const std::uint32_t votes = warp.holds(step, 0) & mask;
    const unsigned how = step.instruction.value(Modifier::vote);
    const bool all = votes == mask, any = votes != 0;
    const bool result = how == 0 ? all : how == 1 ? any : all || !any;
    std::uint32_t* const out = warp.result(step);
    if (step.destination.uniform)
        *out = votes;
    else
        for_lanes(mask, [&](int l) { out[l] = votes; });
    warp.set_predicate(step.predicate_out[0], result ? kAllLanes : 0, mask);
}

void match(Warp& warp, const Step& step, std::uint32_t mask) {
    const bool wide = step.instruction.value(Modifier::u64) != 0;
    const bool all = step.instruction.form->row->modifiers.find(".ALL") != std::string_view::npos;
    const View low = warp.view(step, 0), high = wide ? warp.view(step, 0, 1) : low;
    Warp::Row result{};
    std::uint32_t equal = 0, values = 0;
    for_lanes(mask, [&](int l) {
        std::uint32_t same = 0;
        for_lanes(mask, [&](int other) {
            same |= static_cast<std::uint32_t>(low[l] == low[other] && high[l] == high[other]) << other;
        });
        const bool whole = same == mask;
        values += (same & ((1U << l) - 1)) == 0 ? 1 : 0;
        result[static_cast<std::size_t>(l)] = all && !whole ? 0 : same;
        equal |= static_cast<std::uint32_t>(whole) << l;
    });
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = result[static_cast<std::size_t>(l)]; });
    warp.set_predicate(step.predicate_out[0], equal, mask);
    warp.block->further_values = all || values == 0 ? 0 : values - 1;
}

void redux(Warp& warp, const Step& step, std::uint32_t mask) {
    enum : unsigned { kAnd, kOr, kXor, kSum, kMin, kMax };
    const unsigned how = step.instruction.value(Modifier::redux);
    const bool is_signed = step.instruction.value(Modifier::signed_redux) != 0;
    const View a = warp.view(step, 0);
    bool first = true;
    std::uint32_t total = 0;
    for_lanes(mask, [&](int l) {
        const std::uint32_t value = a[l];
        const bool less =
            is_signed ? static_cast<std::int32_t>(value) < static_cast<std::int32_t>(total) : value < total;
        if (first || ((how == kMin || how == kMax) && less == (how == kMin)))
            total = value;
        else if (how == kAnd)
            total &= value;
        else if (how == kOr)
            total |= value;
        else if (how == kXor)
            total ^= value;
        else if (how == kSum)
            total += value;
        first = false;
    });
    *warp.result(step) = total;
}

void shfl(Warp& warp, const Step& step, std::uint32_t mask) {
    constexpr Shuffle kShuffles[] = {Shuffle::index, Shuffle::up, Shuffle::down, Shuffle::butterfly};
    const Shuffle how = kShuffles[step.instruction.value(Modifier::shuffle) & 3];
    const View a = warp.view(step, 0), b = warp.view(step, 1), c = warp.view(step, 2);
    Warp::Row result{};
    std::uint32_t valid = 0;
    for_lanes(mask, [&](int l) {
        const auto from = shuffle_source(how, static_cast<std::uint32_t>(l), b[l], c[l]);
        result[static_cast<std::size_t>(l)] = a[static_cast<int>(from.lane)];
        valid |= static_cast<std::uint32_t>(from.valid) << l;
    });
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = result[static_cast<std::size_t>(l)]; });
    warp.set_predicate(step.predicate_out[0], valid, mask);
}

/// Each thread has its own copy of a convergence barrier: the lanes that it waits for.
void barrier_to_register(Warp& warp, const Step& step, std::uint32_t mask) {
    const bool clears = step.instruction.value(Modifier::clear) != 0;
    std::uint32_t* const out = warp.result(step);
    Warp::Row& waits = warp.convergence[step.barrier];
    for_lanes(mask, [&](int l) {
        const auto lane = static_cast<std::size_t>(l);
        out[l] = waits[lane];
        if (clears) waits[lane] = 0;
    });
}

void register_to_barrier(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0);
    for_lanes(mask, [&](int l) { warp.convergence[step.barrier][static_cast<std::size_t>(l)] = a[l]; });
}

/// ELECT: the lowest lane of those whose predicate holds.
void elect(Warp& warp, const Step& step, std::uint32_t mask) {
    const std::uint32_t candidates = warp.holds(step, 0) & mask;
    const std::uint32_t elected = candidates & (0 - candidates);
    *warp.result(step) = candidates == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(candidates));
    warp.set_predicate(step.predicate_out[0], elected, mask);
}

}  // namespace

Execute move_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    switch (instruction.operation) {
        case Operation::MOV:
        case Operation::UMOV: return mov;
        case Operation::LEPC: return code_address;
        case Operation::NOP:
        case Operation::DEPBAR:
        case Operation::MEMBAR:
        case Operation::ERRBAR:
        case Operation::CGAERRBAR:
        case Operation::FENCE:
        case Operation::LDGDEPBAR:
        case Operation::NANOSLEEP:
        case Operation::ENDCOLLECTIVE:
        case Operation::CCTL:
        case Operation::PREEXIT:
        case Operation::USETSHMSZ:  // A block gives shared memory back early. Nothing starts there before it ends.
        case Operation::ACQBULK: return nothing;
        case Operation::P2R:
        case Operation::UP2UR: return p2r;
        case Operation::R2P:
        case Operation::UR2UP: return r2p;
        case Operation::R2UR: return r2ur;
        case Operation::S2R:
        case Operation::S2UR:
            step.reads_clock = is_clock(step.special);
            return known_special(step.special) ? s2r : nullptr;
        case Operation::CS2R:
            step.reads_clock = is_clock(step.special);
            return known_special(step.special) ? cs2r : nullptr;
        case Operation::B2R: return b2r;
        case Operation::BMOV: return instruction.form->row->opcode == 0x155 ? barrier_to_register : register_to_barrier;
        case Operation::ELECT: return elect;
        case Operation::VOTE:
        case Operation::VOTEU: return vote;
        case Operation::MATCH: return match;
        case Operation::REDUX: return redux;
        case Operation::SHFL: return shfl;
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
