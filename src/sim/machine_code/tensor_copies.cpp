// Copies of boxes of tensors: UTMALDG, UTMASTG, UTMAREDG, UTMAPF, and UTMACCTL, which fetches tensor maps. The data
// moves when the instruction issues.
#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/bulk_copies.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/machine_code/tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string_view>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

constexpr std::uint64_t kSharedAlignment = 128;

/// The tensor map that the instruction names, in global memory or among the kernel's parameters.
TensorMap map_of(Warp& warp, const Step& step) {
    const std::uint64_t address = uniform_pair(warp, step.address.uniform);
    constexpr std::uint64_t kAlignment = 64;
    if (address % kAlignment != 0)
        throw LaneFault(0,
                        fmt::format("misaligned tensor map at 0x{:x}; expected a multiple of {}", address, kAlignment));
    const std::byte* bytes = constant_bytes_at(*warp.block, address, kTensorMapBytes);
    if (bytes == nullptr) bytes = warp.block->global->resolve(address, kTensorMapBytes);
    if (bytes == nullptr) throw LaneFault(0, fmt::format("illegal address 0x{:x} of a tensor map", address));
    std::string error;
    const auto map = decode_tensor_map(std::span<const std::byte, kTensorMapBytes>(bytes, kTensorMapBytes), error);
    if (!map) throw LaneFault(0, fmt::format("the tensor map at 0x{:x} {}", address, error));
    const std::size_t dimensions = std::size_t{step.instruction.value(Modifier::dimensions)} + 1;
    if (map->dimensions != dimensions)
        throw LaneFault(0, fmt::format("the tensor map at 0x{:x} has {} dimensions; the instruction expects {}",
                                       address, map->dimensions, dimensions));
    const bool im2col = step.instruction.value(Modifier::im2col) != 0;
    if (step.instruction.has(Modifier::im2col) && map->im2col != im2col)
        throw LaneFault(0, fmt::format("the tensor map at 0x{:x} is {}; the instruction expects the other kind",
                                       address, map->im2col ? "of im2col" : "tiled"));
    return *map;
}

/// The coordinates, in uniform registers from `first` on.
BoxPlace place_of(const Warp& warp, const TensorMap& map, std::size_t first) {
    BoxPlace place;
    for (std::size_t i = 0; i < map.dimensions; ++i) place.at[i] = static_cast<std::int32_t>(warp.uniforms[first + i]);
    const auto bytes = static_cast<std::int64_t>(bytes_of(map.type));
    if (place.at[0] * bytes % kBoxPiece != 0)
        throw LaneFault(0, fmt::format("the box begins {} bytes into a row; expected a multiple of {}, without which "
                                       "a GPU stops with an illegal instruction",
                                       place.at[0] * bytes, kBoxPiece));
    return place;
}

/// Refuses the places at which an H200 stops with an illegal instruction.
void check_place(const TensorMap& map, const BoxPlace& place, bool stores) {
    constexpr std::string_view kStops = "without which a GPU stops with an illegal instruction";
    for (std::size_t i = 0; i < map.dimensions; ++i)
        if (stores && place.at[i] < 0)
            throw LaneFault(0, fmt::format("a box is stored at coordinate {} of dimension {}; expected 0 or more, {}",
                                           place.at[i], i, kStops));
    if (!map.im2col) return;
    if (stores) throw LaneFault(0, "stores of im2col, of which it is not known what they do,");
    for (std::size_t i = 0; i + 2 < map.dimensions; ++i) {
        const std::int64_t at = place.at[i + 1], end = static_cast<std::int64_t>(map.size[i + 1]) + map.upper[i];
        if (at < map.lower[i] || at >= end)
            throw LaneFault(0, fmt::format("the pixels begin at coordinate {} of dimension {}; expected one from {} to "
                                           "{}, {}",
                                           at, i + 1, map.lower[i], end - 1, kStops));
    }
}

/// The offsets of im2col share the lower half of a register.
void add_offsets(const TensorMap& map, std::uint32_t packed, BoxPlace& place) {
    constexpr unsigned kBits[] = {16, 8, 5};  // by spatial dimensions
    const std::size_t spatial = map.dimensions - 2;
    for (std::size_t i = 0; i < spatial; ++i)
        place.offset[i] = packed >> (kBits[spatial - 1] * i) & ((1U << kBits[spatial - 1]) - 1);
}

/// A float rounded to the 10 bits of fraction of a TF32 number, ties away from zero. There is one NaN.
std::uint32_t as_tensor_float(std::uint32_t bits) {
    constexpr std::uint32_t kExponent = 0x7F800000, kFraction = 0x007FFFFF, kHalf = 0x1000, kLost = 0x1FFF;
    constexpr std::uint32_t kTensorNan = 0x7FFFE000;
    if ((bits & kExponent) == kExponent) return (bits & kFraction) != 0 ? kTensorNan : bits;
    return (bits + kHalf) & ~kLost;
}

/// What stands for an element outside of the tensor: zero, or 16 bits that are a NaN in each format, again and again.
void fill(const TensorMap& map, std::byte* to) {
    constexpr std::byte kNan[] = {std::byte{0xF7}, std::byte{0x7F}};
    for (std::uint64_t i = 0; i < bytes_of(map.type); ++i) to[i] = map.fills_nan ? kNan[i % 2] : std::byte{0};
}

/// Copies the box into the shared memory of a block, from `to` on.
void load_box(Warp& warp, const TensorMap& map, const BoxPlace& box, const SharedPlace& to) {
    const std::uint64_t element = bytes_of(map.type);
    BlockState& target = *to.block;
    const auto at = [&](std::uint64_t byte) { return target.shared.data() + swizzled(map.swizzle, to.offset + byte); };
    for_runs(map, box, false, [&](const BoxRun& run) {
        if (!run.inside) {
            for (std::uint64_t i = 0; i < run.elements; ++i) fill(map, at(run.shared + i * element));
            return;
        }
        if (run.stride == element && !map.tensor_float) {
            const std::uint64_t bytes = run.elements * element;
            const std::byte* const from = warp.block->global->resolve(run.address, bytes);
            if (from == nullptr)
                throw LaneFault(0, fmt::format("illegal address 0x{:x} ({} bytes) of a tensor", run.address, bytes));
            for (std::uint64_t done = 0; done < bytes;) {
                const std::uint64_t place = run.shared + done;
                const std::uint64_t count =
                    std::min<std::uint64_t>(bytes - done, kBoxPiece - (to.offset + place) % kBoxPiece);
                std::memcpy(at(place), from + done, count);
                done += count;
            }
            return;
        }
        for (std::uint64_t i = 0; i < run.elements; ++i) {
            const std::uint64_t address = run.address + i * run.stride;
            const std::byte* const from = warp.block->global->resolve(address, element);
            if (from == nullptr)
                throw LaneFault(0, fmt::format("illegal address 0x{:x} ({} bytes) of a tensor", address, element));
            std::byte* const place = at(run.shared + i * element);
            std::memcpy(place, from, element);
            if (!map.tensor_float) continue;
            std::uint32_t bits = 0;
            std::memcpy(&bits, place, sizeof bits);
            bits = as_tensor_float(bits);
            std::memcpy(place, &bits, sizeof bits);
        }
    });
}

/// Notes the global memory that the box touches, and tells the observer of it.
void note_ranges(Warp& warp, const TensorMap& map, const BoxPlace& box, bool writes) {
    const std::uint64_t element = bytes_of(map.type);
    Transfer& transfer = warp.block->transfer;
    for_runs(map, box, writes, [&](const BoxRun& run) {
        if (!run.inside) return;
        const std::uint64_t span = (run.elements - 1) * run.stride + element;
        if (run.stride == element) return transfer.add(run.address, span);
        for (std::uint64_t i = 0; i < run.elements; ++i) transfer.add(run.address + i * run.stride, element);
    });
    if (warp.block->observer == nullptr) return;
    for (const GlobalRange& range : transfer.ranges) (void)touched_bytes(warp, range.address, range.bytes, writes);
}

void check_shared(std::uint64_t address, const BlockState& block, std::uint64_t bytes) {
    if (address % kSharedAlignment != 0)
        throw LaneFault(0, fmt::format("misaligned address 0x{:x} in shared memory of a box; expected a multiple of {}",
                                       address, kSharedAlignment));
    if (address + bytes > block.shared.size()) throw beyond_shared_memory(0, address, bytes, block.shared.size());
}

/// Refuses a box before its rows are listed: five dimensions of a damaged tensor map can have 10^12 of them.
void check_size(const TensorMap& map, std::uint64_t most, std::string_view of) {
    if (shared_bytes(map) > most)
        throw LaneFault(0, fmt::format("a box of {} bytes of shared memory; expected at most {}, {},",
                                       shared_bytes(map), most, of));
}

constexpr std::string_view kOfBlock = "what the block has", kOfAnyBlock = "what addresses of shared memory tell apart";

void load_tensor(Warp& warp, const Step& step, std::uint32_t) {
    const TensorMap map = map_of(warp, step);
    check_size(map, warp.block->shared.size(), kOfBlock);
    const std::size_t first = step.copy_to.uniform;
    const std::uint64_t to = warp.uniforms[first], barrier = warp.uniforms[first + 1];
    BoxPlace box = place_of(warp, map, first + 2);
    const std::uint32_t packed = step.source_count > 0 ? warp.view(step, 0)[0] : 0;
    check_place(map, box, false);
    if (map.im2col) add_offsets(map, packed & 0xFFFF, box);
    Transfer& transfer = warp.block->transfer;
    transfer.start(Transfer::Kind::load, true);
    transfer.map = uniform_pair(warp, step.address.uniform);
    transfer.bytes = box_bytes(map);
    note_ranges(warp, map, box, false);
    const auto copy_to = [&](std::uint64_t address, std::uint64_t its_barrier) {
        const SharedPlace place = shared_place(warp, address, 0);
        check_shared(place.offset, *place.block, shared_bytes(map));
        load_box(warp, map, box, place);
        signal_barrier(warp, its_barrier, transfer.bytes);
    };
    if (step.instruction.value(Modifier::multicast) == 0) return copy_to(to, barrier);
    for (std::uint64_t rank = 0; rank < kMostClusterBlocks; ++rank)
        if ((packed >> (16 + rank) & 1) != 0)
            copy_to(rank * kWindowSize + to % kWindowSize, rank * kWindowSize + barrier % kWindowSize);
}

/// Step::mode: what a reduction does; 0 is a plain store.
void store_tensor(Warp& warp, const Step& step, std::uint32_t) {
    const TensorMap map = map_of(warp, step);
    check_size(map, warp.block->shared.size(), kOfBlock);
    const std::size_t first = step.copy_to.uniform;
    const std::uint64_t from = warp.uniforms[first];
    const BoxPlace box = place_of(warp, map, first + 1);
    check_place(map, box, true);
    const bool reduces = step.mode != 0;
    const auto how = static_cast<Combine>(reduces ? step.mode - 1 : 0);
    if (reduces && !combines(how, map.type))
        throw LaneFault(0, "a reduction that does not exist for the type of the tensor's elements");
    Transfer& transfer = warp.block->transfer;
    transfer.start(reduces ? Transfer::Kind::reduce : Transfer::Kind::store, true);
    transfer.map = uniform_pair(warp, step.address.uniform);
    transfer.bytes = box_bytes(map);
    note_ranges(warp, map, box, true);
    const SharedPlace place = shared_place(warp, from, 0);
    check_shared(place.offset, *place.block, shared_bytes(map));
    const std::uint64_t element = bytes_of(map.type);
    for_runs(map, box, true, [&](const BoxRun& run) {
        if (!run.inside) return;
        for (std::uint64_t i = 0; i < run.elements; ++i) {
            const std::uint64_t address = run.address + i * run.stride;
            std::byte* const to = warp.block->global->resolve(address, element);
            if (to == nullptr)
                throw LaneFault(0, fmt::format("illegal address 0x{:x} ({} bytes) of a tensor", address, element));
            const std::byte* const source =
                place.block->shared.data() + swizzled(map.swizzle, place.offset + run.shared + i * element);
            if (reduces)
                combine(how, map.type, to, source);
            else
                std::memcpy(to, source, element);
        }
    });
}

void prefetch_tensor(Warp& warp, const Step& step, std::uint32_t) {
    const TensorMap map = map_of(warp, step);
    check_size(map, kWindowSize, kOfAnyBlock);
    warp.block->transfer.start(Transfer::Kind::prefetch, true);
    warp.block->transfer.map = uniform_pair(warp, step.address.uniform);
    note_ranges(warp, map, place_of(warp, map, step.copy_to.uniform), false);
}

void fetch_map(Warp& warp, const Step& step, std::uint32_t) {
    warp.block->transfer.map = uniform_pair(warp, step.address.uniform);
}

}  // namespace

Execute tensor_copy_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    constexpr unsigned kOperations = 8;
    switch (instruction.operation) {
        case Operation::UTMALDG: return load_tensor;
        case Operation::UTMASTG: return store_tensor;
        case Operation::UTMAREDG:
            if (instruction.value(Modifier::reduction) >= kOperations) return nullptr;
            step.mode = 1U + instruction.value(Modifier::reduction);
            return store_tensor;
        case Operation::UTMAPF: return prefetch_tensor;
        case Operation::UTMACCTL: return fetch_map;
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
