// Loads, stores and atomics on the simulated device's memory.
#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/exec/program.hpp"
#include "sim/machine_code/atomic_kind.hpp"
#include "sim/machine_code/clusters.hpp"
#include "sim/machine_code/held_atomic.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/machine_code/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

/// The address that a lane computes.
std::uint64_t address_at(const Warp& warp, const Address& address, Space space, int lane) {
    const auto l = static_cast<std::size_t>(lane);
    std::uint64_t base = 0;
    if (address.reg != sass::kZeroRegister) {
        base = warp.registers[address.reg][l];
        if (address.wide) base |= std::uint64_t{warp.registers[address.reg + 1U][l]} << 32;
        base *= address.scale;
    }
    const bool near = space == Space::shared || space == Space::local || space == Space::cluster;
    if (address.has_uniform && address.uniform != sass::kZeroUniformRegister) {
        base += warp.uniforms[address.uniform];
        if (!near) base += std::uint64_t{warp.uniforms[address.uniform + 1U]} << 32;
    }
    base += static_cast<std::uint64_t>(address.offset);
    return near ? base & 0xFFFFFFFF : base;
}

/// The host's bytes behind an address; throws LaneFault where there are none. Leaves the address in the block's state.
std::byte* bytes_at(Warp& warp, Space space, Access access, std::uint64_t address, std::uint64_t bytes, int lane) {
    warp.block->addresses[static_cast<std::size_t>(lane)] = address;
    std::uint64_t offset = address;
    const bool generic = space == Space::generic;
    bool of_cluster = space == Space::cluster;
    if (of_cluster) space = Space::shared;
    if (generic) {
        space = Space::global;
        if (address - kSharedWindow < kClusterWindowSize) {
            space = Space::shared;
            of_cluster = true;
            offset = address - kSharedWindow;
        } else if (address - kLocalWindow < kWindowSize) {
            space = Space::local;
            offset = address - kLocalWindow;
        }
    }
    std::byte* found = nullptr;
    if (space == Space::global) {
        found = warp.block->global->resolve(address, bytes);
        // Nothing writes the parameters, whatever the type of the pointer.
        if (found == nullptr && access == Access::read)
            if (const std::byte* const constant = constant_bytes_at(*warp.block, address, bytes))
                return const_cast<std::byte*>(constant);
    } else if (space == Space::shared) {
        BlockState* block = warp.block;
        // LDS and its kin reach the block's own memory only, whose addresses may have its rank above them.
        if (of_cluster)
            block = shared_place(warp, offset, lane).block;
        else if (offset / kWindowSize != block->rank && offset >= kWindowSize)
            block = nullptr;
        warp.block->reached[static_cast<std::size_t>(lane)] = block;
        offset %= kWindowSize;
        if (!generic) warp.block->addresses[static_cast<std::size_t>(lane)] = offset;
        if (block != nullptr && offset + bytes <= block->shared.size()) found = block->shared.data() + offset;
    } else if (offset + bytes <= warp.local_bytes) {
        found = warp.local.data() + static_cast<std::uint64_t>(lane) * warp.local_bytes + offset;
    }
    if (found == nullptr && space == Space::shared)
        throw beyond_shared_memory(lane, offset, bytes, warp.block->shared.size());
    if (found == nullptr) throw LaneFault(lane, fmt::format("illegal address 0x{:x} ({} bytes)", address, bytes));
    if (address % bytes != 0)
        throw LaneFault(lane, fmt::format("misaligned address 0x{:x} ({} bytes)", address, bytes));
    if (warp.block->observer != nullptr) warp.block->observer->access(space, access, offset, bytes);
    return found;
}

/// The values of Modifier::width that are shorter than a word.
enum : unsigned { kU8, kS8, kU16, kS16 };

std::uint32_t extended(std::uint32_t word, unsigned width) {
    switch (width) {
        case kU8: return word & 0xFF;
        case kS8: return static_cast<std::uint32_t>(static_cast<std::int32_t>(word << 24) >> 24);
        case kU16: return word & 0xFFFF;
        case kS16: return static_cast<std::uint32_t>(static_cast<std::int32_t>(word << 16) >> 16);
        default: return word;
    }
}

/// Step::mode of a load that the SM's own cache may serve.
constexpr std::uint32_t kMayBeServedNear = 1;

template <Space space>
void load(Warp& warp, const Step& step, std::uint32_t mask) {
    const unsigned width = step.instruction.value(Modifier::width);
    const int words = std::max(1, step.bytes / 4);
    std::array<std::uint32_t*, 4> out{};
    for (int i = 0; i < words; ++i) out[static_cast<std::size_t>(i)] = warp.result(step, i);
    constexpr bool kServedNear = space == Space::global || space == Space::generic;
    NearValues* const near = kServedNear && step.mode == kMayBeServedNear ? warp.block->near : nullptr;
    for_lanes(mask, [&](int l) {
        const std::byte* from =
            bytes_at(warp, space, Access::read, address_at(warp, step.address, space, l), step.bytes, l);
        if (near != nullptr) from = near->seen(warp.block->addresses[static_cast<std::size_t>(l)], from);
        std::array<std::uint32_t, 4> values{};
        std::memcpy(values.data(), from, step.bytes);
        for (std::size_t i = 0; i < static_cast<std::size_t>(words); ++i) out[i][l] = extended(values[i], width);
    });
    warp.set_predicate(step.predicate_out[0], 0, mask);
}

template <Space space>
void store(Warp& warp, const Step& step, std::uint32_t mask) {
    const int words = std::max(1, step.bytes / 4);
    std::array<View, 4> from{};
    for (int i = 0; i < words; ++i) from[static_cast<std::size_t>(i)] = warp.view(step, 0, i);
    for_lanes(mask, [&](int l) {
        std::array<std::uint32_t, 4> values{};
        for (std::size_t i = 0; i < static_cast<std::size_t>(words); ++i) values[i] = from[i].raw(l);
        std::memcpy(bytes_at(warp, space, Access::write, address_at(warp, step.address, space, l), step.bytes, l),
                    values.data(), step.bytes);
        if constexpr (space == Space::global || space == Space::generic)
            if (warp.block->near != nullptr)
                warp.block->near->after_store(warp.block->addresses[static_cast<std::size_t>(l)], step.bytes);
    });
}

void load_constant(Warp& warp, const Step& step, std::uint32_t mask) {
    const unsigned width = step.instruction.value(Modifier::constant_width);
    const std::vector<std::uint32_t>& bank = (*warp.block->constants)[step.bank];
    const auto* const bytes = reinterpret_cast<const std::byte*>(bank.data());
    std::uint32_t *const low = warp.result(step), *const high = step.bytes == 8 ? warp.result(step, 1) : nullptr;
    for_lanes(mask, [&](int l) {
        std::uint64_t offset = static_cast<std::uint64_t>(step.address.offset);
        if (step.address.has_uniform && step.address.uniform != sass::kZeroUniformRegister)
            offset += warp.uniforms[step.address.uniform];
        else if (step.address.reg != sass::kZeroRegister)
            offset += warp.registers[step.address.reg][static_cast<std::size_t>(l)];
        offset &= 0xFFFFFFFF;
        std::array<std::uint32_t, 2> words{};
        warp.block->addresses[static_cast<std::size_t>(l)] = offset;
        if (offset + step.bytes > 4 * bank.size())
            throw LaneFault(l, fmt::format("illegal offset {:#x} in constant bank {} of {:#x} bytes", offset, step.bank,
                                           4 * bank.size()));
        if (warp.block->observer != nullptr)
            warp.block->observer->access(Space::constant, Access::read, offset, step.bytes);
        std::memcpy(words.data(), bytes + offset, step.bytes);
        low[l] = extended(words[0], width);
        if (high != nullptr) high[l] = words[1];
    });
}

/// LDGSTS: copies from global to shared memory at once. Threads that do not wait see the data too early. A thread
/// whose predicate does not hold writes zeros instead, as cp.async does with its operand ignore-src.
void copy_to_shared(Warp& warp, const Step& step, std::uint32_t mask) {
    const std::uint32_t copied = step.predicate_count > 0 ? warp.holds(step, 0) : kAllLanes;
    for_lanes(mask, [&](int l) {
        const auto lane = static_cast<std::size_t>(l);
        std::byte* const to = shared_bytes(warp, step.copy_to, step.bytes, l);
        warp.block->shared_addresses[lane] = static_cast<std::uint64_t>(to - warp.block->shared.data());
        const std::uint64_t address = address_at(warp, step.address, Space::global, l);
        warp.block->addresses[lane] = address;
        if ((copied >> l & 1) != 0)
            std::memcpy(to, bytes_at(warp, Space::global, Access::read, address, step.bytes, l), step.bytes);
        else
            std::memset(to, 0, step.bytes);
    });
}

bool is_shared(std::uint64_t address) { return address - kSharedWindow < kWindowSize; }

/// Lanes that leave out a sum of floats because their generic address lies in shared memory, whose unit adds no floats.
/// The instruction's predicate says which lanes have performed it. The code behind it makes up for the others.
template <Space space>
std::uint32_t left_out(Warp& warp, const Step& step, const AtomicKind& kind, std::uint32_t mask) {
    std::uint32_t lanes = 0;
    if (space != Space::generic || step.predicate_out[0].number == sass::kTruePredicate) return lanes;
    if (kind.words == 0 && !is_float(kind.number)) return lanes;
    for_lanes(mask, [&](int l) {
        const std::uint64_t address = address_at(warp, step.address, Space::generic, l);
        if (!is_shared(address)) return;
        lanes |= 1U << l;
        // The access has taken its way there.
        warp.block->addresses[static_cast<std::size_t>(l)] = address;
        warp.block->reached[static_cast<std::size_t>(l)] = warp.block;
    });
    return lanes;
}

/// The lowest one of the lanes whose words lie in one bank of shared memory, for each bank.
std::uint32_t first_of_banks(const Warp& warp, const Step& step, std::uint64_t bytes, std::uint32_t mask) {
    constexpr std::uint64_t kWord = 4, kBanks = 32;  // of all GPUs with this instruction
    std::uint32_t first = 0, taken = 0;
    for_lanes(mask, [&](int l) {
        const std::uint64_t bank = address_at(warp, step.address, Space::shared, l) / kWord % kBanks;
        const auto banks = static_cast<std::uint32_t>((std::uint64_t{1} << bytes / kWord) - 1) << bank;
        if ((taken & banks) != 0) return;
        taken |= banks;
        first |= 1U << l;
    });
    return first;
}

/// The operands of an atomic: what it adds, stores or compares with, and what a compare-and-swap stores.
struct AtomicOperands {
    View first, first_high, second, second_high;
    bool wide = false, has_second = false;

    AtomicOperands(const Warp& warp, const Step& step, std::uint64_t bytes)
        : wide(bytes == 8), has_second(step.source_count > 1) {
        first = warp.view(step, 0);
        if (has_second) second = warp.view(step, 1);
        if (wide) first_high = warp.view(step, 0, 1);
        if (wide && has_second) second_high = warp.view(step, 1, 1);
    }
    [[nodiscard]] std::uint64_t first_of(int l) const {
        return first.raw(l) | (wide ? std::uint64_t{first_high.raw(l)} << 32 : 0);
    }
    [[nodiscard]] std::uint64_t second_of(int l) const {
        if (!has_second) return first_of(l);
        return second.raw(l) | (wide ? std::uint64_t{second_high.raw(l)} << 32 : 0);
    }
};

/// Says that an atomic is about to change memory at the address that bytes_at() has left.
template <Space space>
void note_change(const Warp& warp, int lane) {
    if constexpr (space != Space::shared)
        if (warp.block->near != nullptr)
            warp.block->near->before_atomic(warp.block->addresses[static_cast<std::size_t>(lane)]);
}

/// The lanes perform their atomics one after another, the lowest first.
template <Space space>
void atomic(Warp& warp, const Step& step, std::uint32_t mask) {
    const AtomicKind kind = unpacked(step.mode);
    const std::uint64_t bytes = bytes_of(kind.number);
    const bool wide = bytes == 8;
    const AtomicOperands operands(warp, step, bytes);
    std::uint32_t *const low = warp.result(step), *const high = wide ? warp.result(step, 1) : nullptr;
    const std::uint32_t performed = mask & ~left_out<space>(warp, step, kind, mask);
    const std::uint32_t tried = kind.returns_success ? first_of_banks(warp, step, bytes, performed) : performed;
    for_lanes(performed & ~tried, [&](int l) {
        low[l] = 0;
        if (wide) high[l] = 0;
    });
    for_lanes(tried, [&](int l) {
        std::byte* const at = bytes_at(warp, space, Access::atomic, address_at(warp, step.address, space, l), bytes, l);
        note_change<space>(warp, l);
        const std::uint64_t first = operands.first_of(l);
        const std::uint64_t old = perform(kind.number, kind.mode, at, first, operands.second_of(l));
        if (kind.mode == Atomic::compare_swap) {
            ++warp.block->swaps;
            warp.block->failed_swaps += old != first ? 1 : 0;
        }
        if (kind.returns_success) {
            low[l] = old == first ? 1 : 0;
            if (wide) high[l] = 0;
            return;
        }
        low[l] = static_cast<std::uint32_t>(old);
        if (wide) high[l] = static_cast<std::uint32_t>(old >> 32);
    });
    warp.set_predicate(step.predicate_out[0], performed, mask);
}

/// An atomic on a vector of words.
template <Space space>
void vector_atomic(Warp& warp, const Step& step, std::uint32_t mask) {
    const AtomicKind kind = unpacked(step.mode);
    const std::uint32_t performed = mask & ~left_out<space>(warp, step, kind, mask);
    for_lanes(performed, [&](int l) {
        const std::uint64_t bytes = std::uint64_t{4} * kind.words;
        std::byte* const at = bytes_at(warp, space, Access::atomic, address_at(warp, step.address, space, l), bytes, l);
        note_change<space>(warp, l);
        for (int word = 0; word < kind.words; ++word)
            warp.result(step, word)[l] = static_cast<std::uint32_t>(
                perform(kind.number, kind.mode, at + std::size_t{4} * static_cast<std::size_t>(word),
                        warp.view(step, 0, word).raw(l), 0));
    });
    warp.set_predicate(step.predicate_out[0], performed, mask);
}

/// ATOMS.POPC.INC: each lane counts one.
void count_lanes(Warp& warp, const Step& step, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        apply_atomic<std::uint32_t>(
            Atomic::add,
            bytes_at(warp, Space::shared, Access::atomic, address_at(warp, step.address, Space::shared, l), 4, l), 1,
            0);
    });
}

/// QSPC: whether a generic address lies in a space. Shared memory of the block is part of that of its cluster (.D).
void query_space(Warp& warp, const Step& step, std::uint32_t mask) {
    constexpr unsigned kGlobal = 0, kLocal = 1;
    const unsigned space = step.instruction.value(Modifier::space);
    std::uint32_t there = 0;
    for_lanes(mask, [&](int l) {
        const std::uint64_t address = address_at(warp, step.address, Space::generic, l);
        const bool shared = is_shared(address), local = address - kLocalWindow < kWindowSize;
        const bool found = space == kGlobal ? !shared && !local : space == kLocal ? local : shared;
        there |= static_cast<std::uint32_t>(found) << l;
    });
    warp.set_predicate(step.predicate_out[0], there, mask);
}

std::uint8_t width_bytes(const sass::Instruction& instruction) {
    constexpr std::uint8_t kBytes[] = {1, 1, 2, 2, 4, 8, 16, 0};
    for (const Modifier width : {Modifier::width, Modifier::wide_width, Modifier::constant_width})
        if (instruction.has(width)) return kBytes[instruction.value(width) & 7];
    return 4;
}

}  // namespace

bool can_be_held(const Step& step) {
    if (step.instruction.form == nullptr || step.execute == nullptr) return false;
    const bool global = step.instruction.operation == Operation::ATOMG || step.instruction.operation == Operation::REDG;
    return global && unpacked(step.mode).words == 0 && !sums_lanes(step);
}

HeldAtomic hold_atomic(Warp& warp, const Step& step, std::uint32_t mask) {
    const std::uint64_t bytes = bytes_of(unpacked(step.mode).number);
    const AtomicOperands operands(warp, step, bytes);
    HeldAtomic held{.lanes = mask};
    for_lanes(mask, [&](int l) {
        const auto lane = static_cast<std::size_t>(l);
        held.addresses[lane] = address_at(warp, step.address, Space::global, l);
        (void)bytes_at(warp, Space::global, Access::atomic, held.addresses[lane], bytes, l);
        held.first[lane] = operands.first_of(l);
        held.second[lane] = operands.second_of(l);
    });
    return held;
}

void perform(HeldAtomic& held, BlockState& block, Warp* warp, const Step& step, std::uint32_t lanes) {
    const AtomicKind kind = unpacked(step.mode);
    const std::uint64_t bytes = bytes_of(kind.number);
    const bool wide = bytes == 8;
    lanes &= held.lanes;
    held.lanes &= ~lanes;
    for_lanes(lanes, [&](int l) {
        const auto lane = static_cast<std::size_t>(l);
        if (block.near != nullptr) block.near->before_atomic(held.addresses[lane]);
        const std::uint64_t old = perform(kind.number, kind.mode, block.global->resolve(held.addresses[lane], bytes),
                                          held.first[lane], held.second[lane]);
        if (kind.mode == Atomic::compare_swap) {
            ++block.swaps;
            block.failed_swaps += old != held.first[lane] ? 1 : 0;
        }
        if (warp == nullptr) return;
        warp->result(step)[l] = static_cast<std::uint32_t>(old);
        if (wide) warp->result(step, 1)[l] = static_cast<std::uint32_t>(old >> 32);
    });
    if (warp != nullptr) warp->set_predicate(step.predicate_out[0], lanes, lanes);
}

bool can_wait_behind_atomics(const Step& step) {
    return step.instruction.operation == Operation::LDG && step.execute != nullptr && !step.uniform &&
           prefetched_bytes(step.instruction) == 0;
}

HeldAtomic hold_load(Warp& warp, const Step& step, std::uint32_t mask) {
    HeldAtomic held{.lanes = mask};
    for_lanes(mask, [&](int l) {
        std::uint64_t& address = held.addresses[static_cast<std::size_t>(l)];
        address = address_at(warp, step.address, Space::global, l);
        (void)bytes_at(warp, Space::global, Access::read, address, step.bytes, l);
    });
    return held;
}

void load(HeldAtomic& held, Warp& warp, const Step& step, std::uint32_t lanes) {
    const unsigned width = step.instruction.value(Modifier::width);
    NearValues* const near = step.mode == kMayBeServedNear ? warp.block->near : nullptr;
    lanes &= held.lanes;
    held.lanes &= ~lanes;
    for_lanes(lanes, [&](int l) {
        const std::uint64_t address = held.addresses[static_cast<std::size_t>(l)];
        const std::byte* from = bytes_at(warp, Space::global, Access::read, address, step.bytes, l);
        if (near != nullptr) from = near->seen(address, from);
        std::array<std::uint32_t, 4> values{};
        std::memcpy(values.data(), from, step.bytes);
        for (int i = 0; i < std::max(1, step.bytes / 4); ++i)
            warp.result(step, i)[l] = extended(values[static_cast<std::size_t>(i)], width);
    });
    warp.set_predicate(step.predicate_out[0], 0, lanes);
}

bool sums_lanes(const Step& step) {
    return step.instruction.operation == Operation::ATOMS && step.instruction.form != nullptr &&
           step.instruction.form->row->modifiers.find(".POPC") != std::string_view::npos;
}

bool swaps_one_of_bank(const Step& step) {
    return step.instruction.operation == Operation::ATOMS && step.instruction.form != nullptr &&
           step.instruction.has(Modifier::exchange) && step.instruction.value(Modifier::exchange) != 0;
}

bool skips_near(const sass::Instruction& instruction) {
    if (instruction.operation == Operation::LDGSTS) return instruction.value(Modifier::bypass) == 0;
    if (!instruction.has(Modifier::load_order)) return false;
    const auto order = sass::text_of(Modifier::load_order, instruction.value(Modifier::load_order));
    return order.find("GPU") != std::string_view::npos || order.find("SYS") != std::string_view::npos ||
           order.find("MMIO") != std::string_view::npos;
}

bool forgets_near(const sass::Instruction& instruction) {
    return instruction.operation == Operation::CCTL && instruction.has(Modifier::cache_operation_all) &&
           sass::text_of(Modifier::cache_operation_all, instruction.value(Modifier::cache_operation_all))
               .starts_with("IVALL");
}

std::uint32_t prefetched_bytes(const sass::Instruction& instruction) {
    constexpr std::uint32_t kSmallest = 64;
    const unsigned size = instruction.has(Modifier::prefetch) ? instruction.value(Modifier::prefetch) : 0;
    return size == 0 ? 0 : kSmallest << (size - 1);
}

costs::AtomicClass atomic_class_of(const Step& step) {
    const bool is_atomic =
        step.instruction.operation == Operation::ATOM || step.instruction.operation == Operation::ATOMG ||
        step.instruction.operation == Operation::ATOMS || step.instruction.operation == Operation::REDG;
    if (!is_atomic || sums_lanes(step)) return costs::AtomicClass::integer;
    const AtomicKind kind = unpacked(step.mode);
    if (kind.mode == Atomic::compare_swap) return costs::AtomicClass::compare_swap;
    switch (kind.number) {
        case Number::f32:
        case Number::f32_flushed:
        case Number::f16x2:
        case Number::bf16x2: return costs::AtomicClass::floating;
        case Number::f64: return costs::AtomicClass::double_precision;
        default: return costs::AtomicClass::integer;
    }
}

std::byte* shared_bytes(Warp& warp, const Address& address, std::uint64_t bytes, int lane) {
    // Only for global memory does an observer need to know whether an access reads or writes.
    return bytes_at(warp, Space::shared, Access::write, address_at(warp, address, Space::shared, lane), bytes, lane);
}

std::byte* cluster_bytes(Warp& warp, const Address& address, std::uint64_t bytes, int lane) {
    return bytes_at(warp, Space::cluster, Access::write, address_at(warp, address, Space::cluster, lane), bytes, lane);
}

const std::byte* global_bytes(Warp& warp, std::uint64_t address, std::uint64_t bytes, int lane) {
    return bytes_at(warp, Space::global, Access::read, address, bytes, lane);
}

const std::byte* generic_bytes(Warp& warp, std::uint64_t address, std::uint64_t bytes, int lane) {
    return bytes_at(warp, Space::generic, Access::read, address, bytes, lane);
}

Execute memory_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    step.bytes = width_bytes(instruction);
    AtomicKind kind;
    const bool loads = instruction.operation == Operation::LD || instruction.operation == Operation::LDG;
    if (loads && !skips_near(instruction)) step.mode = kMayBeServedNear;
    switch (instruction.operation) {
        case Operation::LD: return load<Space::generic>;
        case Operation::LDG: return load<Space::global>;
        case Operation::LDS: return load<Space::shared>;
        case Operation::LDL: return load<Space::local>;
        case Operation::ST: return store<Space::generic>;
        case Operation::STG: return store<Space::global>;
        case Operation::STS: return store<Space::shared>;
        case Operation::STL: return store<Space::local>;
        case Operation::LDGSTS: return instruction.value(Modifier::zero_fill) == 0 ? copy_to_shared : nullptr;
        case Operation::LDC:
        case Operation::ULDC: return instruction.value(Modifier::constant_mode) == 0 ? load_constant : nullptr;
        case Operation::QSPC: return step.destination.reg == sass::kZeroRegister ? query_space : nullptr;
        case Operation::ATOM:
        case Operation::ATOMG:
        case Operation::ATOMS:
        case Operation::REDG:
            if (instruction.form->row->modifiers.find(".POPC") != std::string_view::npos)
                return step.destination.reg == sass::kZeroRegister ? count_lanes : nullptr;
            if (!describe_atomic(instruction, kind)) return nullptr;
            step.mode = packed(kind);
            if (kind.words != 0) {
                if (instruction.operation == Operation::ATOMS) return nullptr;
                step.bytes = static_cast<std::uint8_t>(4 * kind.words);
                return instruction.operation == Operation::ATOM ? vector_atomic<Space::generic>
                                                                : vector_atomic<Space::global>;
            }
            step.bytes = static_cast<std::uint8_t>(bytes_of(kind.number));
            return instruction.operation == Operation::ATOMS  ? atomic<Space::shared>
                   : instruction.operation == Operation::ATOM ? atomic<Space::generic>
                                                              : atomic<Space::global>;
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
