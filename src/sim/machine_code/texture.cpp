// Texture fetches: TEX, TLD and TLD4 of texture objects whose handle is in a uniform register.
#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/exec/sampling.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/machine_code/warp.hpp"

#include <fmt/format.h>

#include <bit>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operand;
using sass::OperandKind;
using sass::Operation;

/// Where a fetch finds its coordinates; packed into Step::mode.
struct Fetch {
    unsigned mask = 0;        ///< channels that it returns
    unsigned dimensions = 0;  ///< coordinates, without the layer
    bool layered = false;     ///< the layer comes before the coordinates
    unsigned channel = 0;     ///< of TLD4
};
std::uint32_t packed_fetch(const Fetch& fetch) {
    return fetch.mask | fetch.dimensions << 4 | static_cast<std::uint32_t>(fetch.layered) << 8 | fetch.channel << 12;
}
Fetch unpacked_fetch(std::uint32_t mode) { return {mode & 0xF, mode >> 4 & 0xF, (mode >> 8 & 1) != 0, mode >> 12 & 3}; }

const TextureObject& texture_of(const Warp& warp, const Step& step, int lane) {
    const std::uint32_t handle = warp.view(step, 1)[lane];
    const TextureTable* const textures = warp.block->textures;
    if (textures != nullptr)
        if (const auto found = textures->find(handle); found != textures->end()) return found->second;
    throw LaneFault(lane, fmt::format("no texture object has the handle {:#x}; {} are known,", handle,
                                      textures == nullptr ? 0 : textures->size()));
}

/// The result has a register for each channel of the mask: two from the destination on, the others from `upper` on.
std::uint32_t* channel_result(Warp& warp, const Step& step, int place) {
    if (place < 2) return warp.result(step, place);
    return step.upper == sass::kZeroRegister
               ? warp.lost()
               : warp.registers[static_cast<std::size_t>(step.upper) + static_cast<std::size_t>(place) - 2].data();
}

void report_texels(const Warp& warp, const TextureObject& texture, const ReadTexels& read) {
    if (warp.block->observer == nullptr) return;
    for (std::size_t i = 0; i < read.count; ++i)
        warp.block->observer->access(Space::global, Access::read, read.addresses[i], texture.texel_bytes());
}

template <Operation operation>
void fetch(Warp& warp, const Step& step, std::uint32_t mask) {
    const Fetch what = unpacked_fetch(step.mode);
    warp.block->texel_bytes = 1;
    for (ReadTexels& read : warp.block->texels) read.count = 0;
    for_lanes(mask, [&](int l) {
        const TextureObject& texture = texture_of(warp, step, l);
        int word = 0;
        const auto next = [&] { return warp.view(step, 0, word++)[l]; };
        const std::uint32_t layer = what.layered ? next() & 0xFFFF : 0;
        ReadTexels& read = warp.block->texels[static_cast<std::size_t>(l)];
        Texel texel{};
        if constexpr (operation == Operation::TLD) {
            std::array<std::int64_t, 3> place{0, 0, static_cast<std::int64_t>(layer)};
            for (std::size_t i = 0; i < what.dimensions; ++i) place[i] = static_cast<std::int32_t>(next());
            texel = texel_at(texture, *warp.block->global, place, read);
        } else {
            TexturePoint point{.layer = layer, .dimensions = what.dimensions};
            for (std::size_t i = 0; i < what.dimensions; ++i) point.coordinate[i] = std::bit_cast<float>(next());
            texel = operation == Operation::TLD4 ? gather(texture, *warp.block->global, point, what.channel, read)
                                                 : sample(texture, *warp.block->global, point, read);
        }
        report_texels(warp, texture, read);
        warp.block->texel_bytes = static_cast<std::uint32_t>(texture.texel_bytes());
        int place = 0;
        for (std::size_t i = 0; i < texel.size(); ++i)
            if ((what.mask >> i & 1) != 0) channel_result(warp, step, place++)[l] = texel[i];
    });
}

/// Which dimensions a fetch has; false for cubes.
bool describe_shape(std::string_view shape, Fetch& what) {
    constexpr std::string_view kArray = "ARRAY_";
    what.layered = shape.starts_with(kArray);
    if (what.layered) shape.remove_prefix(kArray.size());
    what.dimensions = shape == "1D" ? 1 : shape == "2D" ? 2 : shape == "3D" ? 3 : 0;
    return what.dimensions != 0;
}

}  // namespace

bool fetches_texels(const Step& step) {
    return step.instruction.operation == Operation::TEX || step.instruction.operation == Operation::TLD ||
           step.instruction.operation == Operation::TLD4;
}

unsigned dimensions_of_fetch(const Step& step) { return unpacked_fetch(step.mode).dimensions; }

void read_fetch_operands(Step& step) {
    // The upper half of the result, the lower half, the coordinates and what follows them.
    const sass::Instruction& instruction = step.instruction;
    std::size_t registers = 0;
    for (const Operand& operand : instruction.operands()) {
        if (operand.kind == OperandKind::reg) {
            if (registers == 0) step.upper = operand.reg;
            if (registers == 1) step.destination.reg = operand.reg;
            if (registers == 2) step.source[0] = {.kind = Source::Kind::reg, .reg = operand.reg};
            ++registers;
        } else if (operand.kind == OperandKind::uniform) {
            step.source[1] = {.kind = Source::Kind::uniform, .reg = operand.uniform};
            step.source_count = 2;
        } else if (operand.kind == OperandKind::predicate) {
            step.predicate_out[0] = {operand.reg, false, operand.invert};
        } else if (operand.kind == OperandKind::immediate && operand.value != 0) {
            step.source_count = 0;  // an offset of the handle is not simulated
            return;
        }
    }
    if (step.source[0].reg == sass::kZeroRegister) step.source_count = 0;
}

Execute texture_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    Modifier shape = Modifier::texture;
    Execute found = fetch<Operation::TEX>;
    switch (instruction.operation) {
        case Operation::TEX: break;
        case Operation::TLD: shape = Modifier::texel, found = fetch<Operation::TLD>; break;
        case Operation::TLD4: shape = Modifier::gathered_texture, found = fetch<Operation::TLD4>; break;
        default: return nullptr;
    }
    // Its predicate says whether the texels are resident.
    if (step.source_count != 2 || step.predicate_out[0].number != sass::kTruePredicate) return nullptr;
    Fetch what{.mask = instruction.value(Modifier::texture_mask), .channel = instruction.value(Modifier::component)};
    if (!describe_shape(sass::text_of(shape, instruction.value(shape)), what)) return nullptr;
    step.mode = packed_fetch(what);
    return found;
}

}  // namespace gputomo::sim::machine_code
