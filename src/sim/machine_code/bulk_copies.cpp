// Bulk copies of bytes: UBLKCP, UBLKRED and UBLKPF, and UTMACMDFLUSH, which ends a group of them. The data moves when
// the instruction issues.
#include "sim/machine_code/bulk_copies.hpp"

#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/mbarrier.hpp"
#include "sim/machine_code/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

constexpr std::uint64_t kUnit = 16;  ///< bytes that a copy's size and addresses are multiples of
constexpr unsigned kGlobal = 0, kShared = 1;

/// The lower half of the operand counts units; the upper one has a bit for each block that gets a copy.
struct Size {
    std::uint64_t bytes = 0;
    std::uint32_t blocks = 0;
};

Size size_of(const Warp& warp, const Step& step) {
    const std::uint32_t operand = warp.view(step, 0)[0];
    return {.bytes = kUnit * (operand & 0xFFFF), .blocks = operand >> 16};
}

void check_alignment(std::uint64_t address) {
    if (address % kUnit != 0)
        throw LaneFault(0, fmt::format("misaligned address 0x{:x} of a bulk copy; expected a multiple of {} bytes",
                                       address, kUnit));
}

std::uint32_t uniform(const Warp& warp, const Address& address, std::size_t at) {
    return warp.uniforms[address.uniform + at];
}

/// From global memory to the shared memory of this block, of the one that the address names, or of several.
void load_bulk(Warp& warp, const Step& step, std::uint32_t) {
    const std::uint64_t from = uniform_pair(warp, step.address.uniform);
    const std::uint64_t to = uniform(warp, step.copy_to, 0), barrier = uniform(warp, step.copy_to, 1);
    const Size size = size_of(warp, step);
    check_alignment(from), check_alignment(to);
    Transfer& transfer = warp.block->transfer;
    transfer.start(Transfer::Kind::load, false);
    transfer.bytes = size.bytes;
    if (size.bytes == 0) return;
    const std::byte* const bytes = touched_bytes(warp, from, size.bytes, false);
    transfer.add(from, size.bytes);
    const auto copy_to = [&](std::uint64_t place, std::uint64_t its_barrier) {
        std::memcpy(bytes_of(shared_place(warp, place, 0), size.bytes, 0), bytes, size.bytes);
        signal_barrier(warp, its_barrier, size.bytes);
    };
    if (step.instruction.value(Modifier::multicast) == 0) return copy_to(to, barrier);
    for (std::uint64_t rank = 0; rank < kMostClusterBlocks; ++rank)
        if ((size.blocks >> rank & 1) != 0)
            copy_to(rank * kWindowSize + to % kWindowSize, rank * kWindowSize + barrier % kWindowSize);
}

/// From this block's shared memory to that of another one.
void copy_between(Warp& warp, const Step& step, std::uint32_t) {
    const std::uint64_t from = uniform(warp, step.address, 0);
    const std::uint64_t to = uniform(warp, step.copy_to, 0), barrier = uniform(warp, step.copy_to, 1);
    const Size size = size_of(warp, step);
    check_alignment(from), check_alignment(to);
    Transfer& transfer = warp.block->transfer;
    transfer.start(Transfer::Kind::between, false);
    transfer.bytes = size.bytes;
    std::memmove(bytes_of(shared_place(warp, to, 0), size.bytes, 0),
                 bytes_of(shared_place(warp, from, 0), size.bytes, 0), size.bytes);
    signal_barrier(warp, barrier, size.bytes);
}

void store_bulk(Warp& warp, const Step& step, std::uint32_t) {
    const std::uint64_t to = uniform_pair(warp, step.copy_to.uniform), from = uniform(warp, step.address, 0);
    const Size size = size_of(warp, step);
    check_alignment(from), check_alignment(to);
    Transfer& transfer = warp.block->transfer;
    transfer.start(Transfer::Kind::store, false);
    transfer.bytes = size.bytes;
    if (size.bytes == 0) return;
    std::memcpy(touched_bytes(warp, to, size.bytes, true), bytes_of(shared_place(warp, from, 0), size.bytes, 0),
                size.bytes);
    transfer.add(to, size.bytes);
}

/// Step::mode of a reduction.
std::uint32_t packed(Combine how, ElementType type) {
    return static_cast<std::uint32_t>(how) | static_cast<std::uint32_t>(type) << 8;
}

void reduce_bulk(Warp& warp, const Step& step, std::uint32_t) {
    const auto how = static_cast<Combine>(step.mode & 0xFF);
    const auto type = static_cast<ElementType>(step.mode >> 8);
    const bool to_global = step.instruction.value(Modifier::copy_to) == kGlobal;
    const Size size = size_of(warp, step);
    const std::uint64_t from = uniform(warp, step.address, 0);
    const std::uint64_t to =
        to_global ? uniform_pair(warp, step.copy_to.uniform) : std::uint64_t{uniform(warp, step.copy_to, 0)};
    check_alignment(from), check_alignment(to);
    Transfer& transfer = warp.block->transfer;
    transfer.start(to_global ? Transfer::Kind::reduce : Transfer::Kind::between, false);
    transfer.bytes = size.bytes;
    if (size.bytes == 0) return;
    std::byte* const target =
        to_global ? touched_bytes(warp, to, size.bytes, true) : bytes_of(shared_place(warp, to, 0), size.bytes, 0);
    const std::byte* const source = bytes_of(shared_place(warp, from, 0), size.bytes, 0);
    for (std::uint64_t at = 0; at < size.bytes; at += bytes_of(type)) combine(how, type, target + at, source + at);
    if (to_global)
        transfer.add(to, size.bytes);
    else
        signal_barrier(warp, uniform(warp, step.copy_to, 1), size.bytes);
}

/// Brings memory to the L2. No thread can see it, but the address has to exist.
void prefetch_bulk(Warp& warp, const Step& step, std::uint32_t) {
    const std::uint64_t from = uniform_pair(warp, step.address.uniform);
    const Size size = size_of(warp, step);
    check_alignment(from);
    Transfer& transfer = warp.block->transfer;
    transfer.start(Transfer::Kind::prefetch, false);
    if (size.bytes == 0) return;
    (void)touched_bytes(warp, from, size.bytes, false);
    transfer.add(from, size.bytes);
}

void end_group(Warp&, const Step&, std::uint32_t) {}

/// By the values of Modifier::bulk_format.
constexpr ElementType kFormats[] = {ElementType::u32,         ElementType::s32, ElementType::u64,
                                    ElementType::s64,         ElementType::f16, ElementType::f32,
                                    ElementType::f32_flushed, ElementType::f64, ElementType::bf16};
/// By the values of Modifier::reduction.
constexpr Combine kCombines[] = {Combine::add,       Combine::min,  Combine::max, Combine::increment,
                                 Combine::decrement, Combine::and_, Combine::or_, Combine::xor_};

Execute reduction_execution(Step& step) {
    const unsigned format = step.instruction.value(Modifier::bulk_format);
    const unsigned operation = step.instruction.value(Modifier::reduction);
    if (format >= std::size(kFormats) || operation >= std::size(kCombines)) return nullptr;
    if (!combines(kCombines[operation], kFormats[format])) return nullptr;
    step.mode = packed(kCombines[operation], kFormats[format]);
    return reduce_bulk;
}

}  // namespace

std::uint64_t uniform_pair(const Warp& warp, std::size_t first) {
    return warp.uniforms[first] | std::uint64_t{warp.uniforms[first + 1]} << 32;
}

std::byte* touched_bytes(Warp& warp, std::uint64_t address, std::uint64_t bytes, bool writes) {
    BlockState& block = *warp.block;
    std::byte* const found = block.global->resolve(address, bytes);
    if (found == nullptr) throw LaneFault(0, fmt::format("illegal address 0x{:x} ({} bytes)", address, bytes));
    if (block.observer == nullptr) return found;
    for (std::uint64_t at = address; at < address + bytes;) {
        const std::uint64_t next = std::min(address + bytes, (at / kPieceBytes + 1) * kPieceBytes);
        block.observer->access(Space::global, writes ? Access::write : Access::read, at, next - at);
        at = next;
    }
    return found;
}

void signal_barrier(Warp& warp, std::uint64_t barrier, std::uint64_t bytes) {
    const SharedPlace place = shared_place(warp, barrier, 0);
    (void)arrive_at_barrier(*place.block, bytes_of(place, kBarrierBytes, 0), {.transactions = 0 - bytes});
    warp.block->transfer.signals.push_back({place.block, place.offset});
}

Execute bulk_copy_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    step.bytes = kUnit;
    const unsigned to = instruction.value(Modifier::copy_to), from = instruction.value(Modifier::copy_from);
    switch (instruction.operation) {
        case Operation::UBLKCP:
            if (to == kGlobal) return from == kShared ? store_bulk : nullptr;
            return from == kGlobal ? load_bulk : copy_between;
        case Operation::UBLKRED: return reduction_execution(step);
        case Operation::UBLKPF: return prefetch_bulk;
        case Operation::UTMACMDFLUSH: return end_group;
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
