#include "sim/exec/data_access.hpp"

#include "sim/exec/atomic.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/exec/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace gputomo::sim {
namespace {

using ptx::Space;
using ptx::Type;

/// An element of as many bytes as T. Signed values are extended to the whole slot, because the register may be wider
/// than what is loaded.
template <class T>
std::uint64_t load_bits(const std::byte* from, bool sign_extend) {
    T value{};
    std::memcpy(&value, from, sizeof value);
    if (!sign_extend) return value;
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::make_signed_t<T>>(value)});
}

/// Moves one element of each lane, at `offset` in the lane's bytes. The size is known when this is compiled, because
/// copies of other sizes are calls of memcpy().
template <class T>
void move_element(const WarpInstruction& instruction, const LaneData& data, LaneValues& values, std::size_t offset) {
    const bool loads = instruction.op.kind == Kind::load, sign_extend = instruction.op.sign_extend;
    for_lanes(instruction.mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        std::byte* const at = data.bytes[l] + offset;
        if (loads)
            values[l] = load_bits<T>(at, sign_extend);
        else
            std::memcpy(at, &values[l], sizeof(T));
    });
}

std::uint64_t apply_atomic(const Operation& op, std::byte* at, std::uint64_t a, std::uint64_t b) {
    const auto mode = static_cast<Atomic>(op.mode);
    switch (op.type) {
        case Type::s32: return apply_atomic<std::int32_t>(mode, at, a, b);
        case Type::s64: return apply_atomic<std::int64_t>(mode, at, a, b);
        case Type::f32: return apply_atomic<float>(mode, at, a, b);
        case Type::f64: return apply_atomic<double>(mode, at, a, b);
        default:
            return op.bytes == 8 ? apply_atomic<std::uint64_t>(mode, at, a, b)
                                 : apply_atomic<std::uint32_t>(mode, at, a, b);
    }
}

/// One lane's bytes; nullptr where the address lies outside the space.
std::byte* data_at(const DataSpaces& spaces, Space space, int lane, std::uint64_t address, std::uint64_t bytes) {
    const auto inside = [&](std::span<std::byte> all, std::uint64_t begin, std::uint64_t size) {
        return address <= size && bytes <= size - address ? all.data() + begin + address : nullptr;
    };
    switch (space) {
        case Space::shared: return inside(spaces.shared, 0, spaces.shared.size());
        case Space::local:
            return inside(spaces.local, static_cast<std::uint64_t>(lane) * spaces.local_bytes, spaces.local_bytes);
        case Space::param: return inside(spaces.parameters, 0, spaces.parameters.size());
        default: return spaces.global.resolve(address, bytes);
    }
}

/// Finds all lanes in one allocation of device memory with one search instead of 32.
bool resolve_together(const WarpInstruction& instruction, const DeviceMemory& memory, std::uint64_t bytes,
                      LaneData& data) {
    std::uint64_t low = ~std::uint64_t{0}, high = 0, together = 0;
    for_lanes(instruction.mask, [&](int lane) {
        const std::uint64_t address = data.addresses[static_cast<std::size_t>(lane)];
        low = std::min(low, address);
        high = std::max(high, address);
        together |= address;
    });
    if ((together & (bytes - 1)) != 0 || high > ~bytes) return false;
    const Space space = instruction.op.space;
    std::byte* const base = space == Space::generic || space == Space::global || space == Space::constant
                                ? memory.resolve(low, high - low + bytes)
                                : nullptr;
    if (base == nullptr || !memory.is_plain(low)) return false;
    for_lanes(instruction.mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        data.bytes[l] = base + (data.addresses[l] - low);
    });
    return true;
}

void perform_atomics(const WarpInstruction& instruction, const LaneData& data) {
    const Operation& op = instruction.op;
    LaneValues* const registers = instruction.registers;
    const auto operand = [&](std::size_t i, std::size_t l) {
        return op.source[i] == kNoSlot ? 0 : registers[op.source[i]][l];
    };
    for_lanes(instruction.mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        registers[op.destination][l] = apply_atomic(op, data.bytes[l], operand(1, l), operand(2, l));
    });
}

}  // namespace

std::uint32_t bytes_of(const Operation& op) {
    return op.kind == Kind::texture ? op.bytes : std::uint32_t{op.bytes} * std::max<std::uint32_t>(op.elements, 1);
}

Space space_of(const WarpInstruction& instruction) {
    const Operation& op = instruction.op;
    if (op.space != Space::generic) return op.space;
    const auto lane = static_cast<std::size_t>(std::countr_zero(instruction.mask));
    const std::uint64_t first = instruction.registers[op.source[0]][lane] + static_cast<std::uint64_t>(op.offset);
    if (first - kSharedWindow < kWindowSize) return Space::shared;
    return first - kLocalWindow < kWindowSize ? Space::local : Space::global;
}

void resolve(const WarpInstruction& instruction, Space space, const DataSpaces& spaces, LaneData& data) {
    const Operation& op = instruction.op;
    const std::uint64_t bytes = bytes_of(op);
    const LaneValues& base = instruction.registers[op.source[0]];
    const bool near = space == Space::shared || space == Space::local;
    const std::uint64_t window = op.space != Space::generic || !near ? 0
                                 : space == Space::shared            ? kSharedWindow
                                                                     : kLocalWindow;
    for_lanes(instruction.mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        data.addresses[l] = base[l] + static_cast<std::uint64_t>(op.offset) - window;
        if (near && window == 0) data.addresses[l] &= 0xFFFFFFFF;
    });
    if (!near && space != Space::param && resolve_together(instruction, spaces.global, bytes, data)) return;
    for_lanes(instruction.mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const std::uint64_t address = data.addresses[l];
        data.bytes[l] = data_at(spaces, space, lane, address, bytes);
        if (data.bytes[l] == nullptr && space == Space::shared)
            throw beyond_shared_memory(lane, address, bytes, spaces.shared.size());
        if (data.bytes[l] == nullptr)
            throw LaneFault(lane, fmt::format("illegal address 0x{:x} ({} bytes)", address + window, bytes));
        if (address % bytes != 0)
            throw LaneFault(lane, fmt::format("misaligned address 0x{:x} ({} bytes)", address + window, bytes));
    });
}

void move_data(const WarpInstruction& instruction, const LaneData& data) {
    const Operation& op = instruction.op;
    if (op.kind == Kind::atomic) return perform_atomics(instruction, data);
    for (std::size_t e = 0; e < op.elements; ++e) {
        LaneValues& values = instruction.registers[op.vector[e]];
        const std::size_t offset = e * op.bytes;
        switch (op.bytes) {
            case 1: move_element<std::uint8_t>(instruction, data, values, offset); break;
            case 2: move_element<std::uint16_t>(instruction, data, values, offset); break;
            case 4: move_element<std::uint32_t>(instruction, data, values, offset); break;
            default: move_element<std::uint64_t>(instruction, data, values, offset); break;
        }
    }
}

void fetch_texels(const WarpInstruction& instruction, const TextureTable& textures, const DeviceMemory& memory,
                  LaneData& data) {
    const Operation& op = instruction.op;
    LaneValues* const registers = instruction.registers;
    for_lanes(instruction.mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const auto texture = textures.find(registers[op.source[0]][l]);
        if (texture == textures.end()) throw LaneFault(lane, "no such texture");
        const std::uint64_t base = texture->second.address, bytes = texture->second.bytes();
        const auto texel = static_cast<std::int64_t>(as<std::int32_t>(registers[op.source[1]][l]));
        const bool inside = texel >= 0 && static_cast<std::uint64_t>(texel) * 4 + 4 <= bytes;
        data.addresses[l] = base + (inside ? static_cast<std::uint64_t>(texel) * 4 : 0);
        const std::byte* bits = inside ? memory.resolve(data.addresses[l], 4) : nullptr;
        registers[op.vector[0]][l] = bits == nullptr ? 0 : load_bits<std::uint32_t>(bits, op.sign_extend);
        for (std::size_t e = 1; e < op.elements; ++e) registers[op.vector[e]][l] = 0;
    });
}

}  // namespace gputomo::sim
