// Instructions that exchange data between the lanes of a warp: shuffles, votes, matches, reductions.
#include "sim/exec/lanes.hpp"
#include "sim/exec/shuffle.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace gputomo::sim {
namespace {

using ptx::Opcode;

/// shfl.sync d|p, a, b, c, members (PTX ISA, shfl.sync): c packs the clamp and the segment mask.
template <Shuffle how>
void shuffle(const Operation& op, LaneValues* r, std::uint32_t mask) {
    LaneValues result{};
    std::uint32_t in_range = 0;
    for_lanes(mask, [&](int lane) {
        const auto b = read<std::uint32_t>(op, r, 1, lane), c = read<std::uint32_t>(op, r, 2, lane);
        const auto self = static_cast<std::uint32_t>(lane);
        const ShuffleSource from = shuffle_source(how, self, b, c);
        result[self] = as<std::uint32_t>(r[op.source[0]][from.lane]);
        if (from.valid) in_range |= 1U << self;
    });
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = result[static_cast<std::size_t>(l)];
        if (op.destination2 != kNoSlot) r[op.destination2][l] = (in_range >> l) & 1;
    });
}

std::uint32_t ballot(const Operation& op, const LaneValues* r, std::uint32_t mask) {
    std::uint32_t votes = 0;
    for_lanes(mask, [&](int l) { votes |= static_cast<std::uint32_t>(read<bool>(op, r, 0, l)) << l; });
    return votes;
}

enum class Vote : std::uint8_t { all, any, uniform, ballot };

template <Vote how>
void vote(const Operation& op, LaneValues* r, std::uint32_t mask) {
    const std::uint32_t votes = ballot(op, r, mask);
    std::uint64_t result = votes;
    if (how == Vote::all) result = votes == mask;
    if (how == Vote::any) result = votes != 0;
    if (how == Vote::uniform) result = votes == 0 || votes == mask;
    for_lanes(mask, [&](int l) { r[op.destination][l] = result; });
}

template <class T>
void match_any(const Operation& op, LaneValues* r, std::uint32_t mask) {
    LaneValues result{};
    for_lanes(mask, [&](int l) {
        std::uint32_t same = 0;
        for_lanes(mask, [&](int other) {
            if (read<T>(op, r, 0, l) == read<T>(op, r, 0, other)) same |= 1U << other;
        });
        result[static_cast<std::size_t>(l)] = same;
    });
    for_lanes(mask, [&](int l) { r[op.destination][l] = result[static_cast<std::size_t>(l)]; });
}

/// d = the mask of members if all have the same value, else 0; the predicate says which of the two holds.
template <class T>
void match_all(const Operation& op, LaneValues* r, std::uint32_t mask) {
    const T first = mask == 0 ? T{} : read<T>(op, r, 0, std::countr_zero(mask));
    bool same = true;
    for_lanes(mask, [&](int l) { same = same && read<T>(op, r, 0, l) == first; });
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = same ? mask : 0;
        if (op.destination2 != kNoSlot) r[op.destination2][l] = same ? 1 : 0;
    });
}

/// Elects the first of the members.
void elect(const Operation& op, LaneValues* r, std::uint32_t mask) {
    const int leader = std::countr_zero(mask);
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = static_cast<std::uint64_t>(leader);
        if (op.destination2 != kNoSlot) r[op.destination2][l] = l == leader ? 1 : 0;
    });
}

void active_mask(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) { r[op.destination][l] = mask; });
}

template <class T, class F>
void reduce(const Operation& op, LaneValues* r, std::uint32_t mask) {
    bool first = true;
    T total{};
    for_lanes(mask, [&](int l) {
        const T value = read<T>(op, r, 0, l);
        total = std::exchange(first, false) ? value : F{}(total, value);
    });
    for_lanes(mask, [&](int l) { r[op.destination][l] = bits_of<T>(total); });
}

struct LaneMeaning {  // NOLINT(clang-analyzer-optin.performance.Padding): rows read in PTX's order
    Opcode opcode;
    std::string_view modifier;
    ptx::Type type;  ///< none: any
    ExecuteFunction execute;
};

using U = std::uint32_t;
using S = std::int32_t;
using ptx::Type;

struct Smallest {
    template <class T>
    T operator()(T a, T b) const {
        return std::min(a, b);
    }
};
struct Largest {
    template <class T>
    T operator()(T a, T b) const {
        return std::max(a, b);
    }
};

constexpr LaneMeaning kLaneMeanings[] = {
    {Opcode::shfl, "up", Type::none, shuffle<Shuffle::up>},
    {Opcode::shfl, "down", Type::none, shuffle<Shuffle::down>},
    {Opcode::shfl, "bfly", Type::none, shuffle<Shuffle::butterfly>},
    {Opcode::shfl, "idx", Type::none, shuffle<Shuffle::index>},
    {Opcode::vote, "all", Type::none, vote<Vote::all>},
    {Opcode::vote, "any", Type::none, vote<Vote::any>},
    {Opcode::vote, "uni", Type::none, vote<Vote::uniform>},
    {Opcode::vote, "ballot", Type::none, vote<Vote::ballot>},
    {Opcode::match, "any", Type::b32, match_any<U>},
    {Opcode::match, "any", Type::b64, match_any<std::uint64_t>},
    {Opcode::match, "all", Type::b32, match_all<U>},
    {Opcode::match, "all", Type::b64, match_all<std::uint64_t>},
    {Opcode::elect, "", Type::none, elect},
    {Opcode::activemask, "", Type::none, active_mask},
    {Opcode::redux, "add", Type::none, reduce<U, std::plus<>>},
    {Opcode::redux, "min", Type::u32, reduce<U, Smallest>},
    {Opcode::redux, "max", Type::u32, reduce<U, Largest>},
    {Opcode::redux, "min", Type::s32, reduce<S, Smallest>},
    {Opcode::redux, "max", Type::s32, reduce<S, Largest>},
    {Opcode::redux, "and", Type::none, reduce<U, std::bit_and<>>},
    {Opcode::redux, "or", Type::none, reduce<U, std::bit_or<>>},
    {Opcode::redux, "xor", Type::none, reduce<U, std::bit_xor<>>},
};

}  // namespace

ExecuteFunction cross_lane_meaning_of(const ptx::Instruction& instruction) {
    for (const auto& row : kLaneMeanings)
        if (row.opcode == instruction.opcode && (row.type == Type::none || row.type == instruction.type) &&
            (row.modifier.empty() || instruction.has(row.modifier)))
            return row.execute;
    return nullptr;
}

}  // namespace gputomo::sim
