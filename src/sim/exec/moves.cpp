// Moves of registers, and between a register and a vector of narrower ones.
#include "sim/exec/meaning.hpp"

#include <cstddef>
#include <cstdint>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Type;

template <class T>
void move(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) { r[op.destination][l] = bits_of<T>(read<T>(op, r, 0, l)); });
}
template <class Part, bool unpack>
void repack(const Operation& op, LaneValues* r, std::uint32_t mask) {
    constexpr std::size_t kBits = 8 * sizeof(Part);
    for_lanes(mask, [&](int l) {
        if constexpr (unpack) {
            const std::uint64_t whole = r[op.source[0]][static_cast<std::size_t>(l)];
            for (std::size_t e = 0; e < op.elements; ++e) r[op.vector[e]][l] = static_cast<Part>(whole >> (kBits * e));
        } else {
            std::uint64_t whole = 0;
            for (std::size_t e = 0; e < op.elements; ++e)
                whole |= static_cast<std::uint64_t>(static_cast<Part>(r[op.source[e]][static_cast<std::size_t>(l)]))
                         << (kBits * e);
            r[op.destination][l] = whole;
        }
    });
}

constexpr Meaning kMoveMeanings[] = {
    {Opcode::mov, "", Type::pred, move<bool>}, {Opcode::mov, "", Type::b16, move<u16>},
    {Opcode::mov, "", Type::b32, move<u32>},   {Opcode::mov, "", Type::b64, move<u64>},
    {Opcode::mov, "", Type::u16, move<u16>},   {Opcode::mov, "", Type::u32, move<u32>},
    {Opcode::mov, "", Type::u64, move<u64>},   {Opcode::mov, "", Type::s16, move<s16>},
    {Opcode::mov, "", Type::s32, move<s32>},   {Opcode::mov, "", Type::s64, move<s64>},
    {Opcode::mov, "", Type::f32, move<f32>},   {Opcode::mov, "", Type::f64, move<f64>},
};

}  // namespace

std::span<const Meaning> move_meanings() { return kMoveMeanings; }

ExecuteFunction packing_of(std::size_t part_bytes, bool unpack) {
    switch (part_bytes) {
        case 1: return unpack ? repack<std::uint8_t, true> : repack<std::uint8_t, false>;
        case 2: return unpack ? repack<std::uint16_t, true> : repack<std::uint16_t, false>;
        case 4: return unpack ? repack<std::uint32_t, true> : repack<std::uint32_t, false>;
        default: return nullptr;
    }
}

}  // namespace gputomo::sim
