#include "sim/machine_code/clusters.hpp"

#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/bulk_copies.hpp"
#include "sim/machine_code/mbarrier.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace gputomo::sim::machine_code {

SharedPlace shared_place(Warp& warp, std::uint64_t address, int lane) {
    const std::uint64_t rank = address / kWindowSize;
    BlockState& own = *warp.block;
    SharedPlace place{.block = nullptr, .offset = address % kWindowSize};
    if (own.cluster == nullptr)
        place.block = rank == 0 ? &own : nullptr;
    else if (rank < own.cluster->blocks.size())
        place.block = own.cluster->blocks[rank];
    if (place.block == nullptr)
        throw LaneFault(lane,
                        fmt::format("illegal address 0x{:x}: the cluster has no block of rank {}", address, rank));
    return place;
}

std::byte* bytes_of(const SharedPlace& place, std::uint64_t bytes, int lane) {
    if (place.offset + bytes > place.block->shared.size())
        throw beyond_shared_memory(lane, place.offset, bytes, place.block->shared.size());
    return place.block->shared.data() + place.offset;
}

namespace {

/// Where a lane of STAS or REDAS writes, and the barrier that it signals.
SharedPlace target_of(Warp& warp, const Step& step, int lane, std::size_t word) {
    std::uint64_t address = warp.registers[step.address.reg + word][static_cast<std::size_t>(lane)];
    if (word == 0) {
        if (step.address.has_uniform && step.address.uniform != sass::kZeroUniformRegister)
            address += warp.uniforms[step.address.uniform];
        address += static_cast<std::uint64_t>(step.address.offset);
    }
    return shared_place(warp, address & 0xFFFFFFFF, lane);
}

template <class Write>
void write_elsewhere(Warp& warp, const Step& step, std::uint32_t mask, Write&& write) {
    Transfer& transfer = warp.block->transfer;
    transfer.start(Transfer::Kind::between, false);
    for_lanes(mask, [&](int l) {
        const SharedPlace to = target_of(warp, step, l, 0), barrier = target_of(warp, step, l, 1);
        if (to.offset % step.bytes != 0)
            throw LaneFault(l, fmt::format("misaligned address 0x{:x} ({} bytes)", to.offset, step.bytes));
        write(l, bytes_of(to, step.bytes, l));
        transfer.bytes += step.bytes;
        (void)arrive_at_barrier(*barrier.block, bytes_of(barrier, kBarrierBytes, l),
                                {.transactions = 0 - std::uint64_t{step.bytes}});
        transfer.signals.push_back({barrier.block, barrier.offset});
    });
}

void store_elsewhere(Warp& warp, const Step& step, std::uint32_t mask) {
    write_elsewhere(warp, step, mask, [&](int l, std::byte* to) {
        for (int word = 0; word < step.bytes / 4; ++word) {
            const std::uint32_t value = warp.view(step, 0, word).raw(l);
            std::memcpy(to + std::size_t{4} * static_cast<std::size_t>(word), &value, sizeof value);
        }
    });
}

/// Step::mode: how values are combined, and their type.
void reduce_elsewhere(Warp& warp, const Step& step, std::uint32_t mask) {
    const auto how = static_cast<Combine>(step.mode & 0xFF);
    const auto type = static_cast<ElementType>(step.mode >> 8);
    write_elsewhere(warp, step, mask, [&](int l, std::byte* to) {
        const std::array<std::uint32_t, 2> value{warp.view(step, 0).raw(l),
                                                 step.bytes == 8 ? warp.view(step, 0, 1).raw(l) : 0};
        combine(how, type, to, reinterpret_cast<const std::byte*>(value.data()));
    });
}

}  // namespace

Execute cluster_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    constexpr std::array kTypes{ElementType::u32, ElementType::s32, ElementType::u64};
    constexpr std::array kCombines{Combine::add,       Combine::min,  Combine::max, Combine::increment,
                                   Combine::decrement, Combine::and_, Combine::or_, Combine::xor_};
    switch (instruction.operation) {
        case sass::Operation::STAS: {
            constexpr std::uint8_t kBytes[] = {0, 0, 0, 0, 4, 8, 16, 0};
            step.bytes = kBytes[instruction.value(sass::Modifier::wide_width) & 7];
            return step.bytes != 0 ? store_elsewhere : nullptr;
        }
        case sass::Operation::REDAS: {
            const unsigned type = instruction.value(sass::Modifier::remote_format);
            const unsigned how = instruction.value(sass::Modifier::reduction);
            if (type >= kTypes.size() || !combines(kCombines.at(how), kTypes.at(type))) return nullptr;
            step.bytes = static_cast<std::uint8_t>(bytes_of(kTypes.at(type)));
            step.mode = static_cast<std::uint32_t>(kCombines.at(how)) | static_cast<std::uint32_t>(kTypes.at(type))
                                                                            << 8;
            return reduce_elsewhere;
        }
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
