#include "measure/code_fetch/instruction_chase_layout.hpp"

#include "measure/code_fetch/fetch_steps.hpp"
#include "sass/machine_code.hpp"
#include "units/error.hpp"

#include <algorithm>

namespace gputomo::measure::code_chase {
namespace {

/// The layout of the PTX as written, which a simulated GPU executes.
Layout layout_of(const ptx::Module& module) {
    const auto& kernel = module.kernels.front();
    const auto is_jump = [](const ptx::Instruction& instruction) { return instruction.opcode == ptx::Opcode::brx; };
    const auto jump = std::ranges::find_if(kernel.body, is_jump);
    const auto first = static_cast<std::size_t>(jump - kernel.body.begin()) + 1;
    const auto& back = std::get<ptx::SymbolRef>(kernel.body[first + kSlotInstructions - 1].sources.front().value);
    const std::size_t dispatcher = kernel.labels.at(back.name);
    return {dispatcher, first - dispatcher, first};
}

/// The layout of the machine code. The slots' branches back lie at equal distances, and the dispatcher is their
/// target.
std::optional<Layout> layout_of(const sass::KernelCode& code, std::uint32_t slots) {
    constexpr std::size_t kDistance = kSlotInstructions;
    const auto instructions = code.instructions();
    const auto same = [&](std::size_t a, std::size_t b) {
        return instructions[a].is("BRA") && instructions[b].is("BRA") && instructions[a].target &&
               instructions[a].target == instructions[b].target;
    };
    for (std::size_t first = kDistance; first + (slots - 1) * kDistance < instructions.size(); ++first) {
        std::size_t run = 1;
        while (run + 1 < slots && same(first, first + run * kDistance)) ++run;
        if (run + 1 < slots) continue;
        const std::size_t target = *instructions[first].target;
        std::size_t jump = target;
        while (jump + 1 < instructions.size() && !instructions[jump].is("BRX")) ++jump;
        return Layout{target, jump + 1 - target, first + 1 - kDistance};
    }
    return std::nullopt;
}

/// Pads the dispatcher to kHead and moves the first slot to a multiple of kAlignment. A kernel of few slots shows how
/// many instructions that takes.
Filling find_filling(device::Device& device, std::uint64_t instruction_bytes) {
    // Slots of the kernel that shows how much padding is needed: few compile fast.
    constexpr std::uint32_t kFew = 16;
    const std::uint64_t aligned = kAlignment / instruction_bytes, head = kHead / instruction_bytes;
    Filling filling;
    for (int i = 0; i < 3; ++i) {
        const auto written = chase_kernel(target_of(device), kFew, filling);
        const auto layout = layout_in(CompiledKernel(device, written), written, kFew);
        if (!layout) break;
        const std::uint64_t length = layout->first_slot - layout->dispatcher;
        if (i == 0 && !layout->apart() && length <= head)
            filling.within = static_cast<std::uint32_t>(head - length);
        else if (layout->first_slot % aligned == 0)
            break;
        else
            filling.before =
                static_cast<std::uint32_t>((filling.before + aligned - layout->first_slot % aligned) % aligned);
    }
    return filling;
}

}  // namespace

std::optional<Layout> layout_in(const CompiledKernel& compiled, const ptx::KernelBuilder& written,
                                std::uint32_t slots) {
    const auto& code = compiled.module().machine_code();
    if (!code) return layout_of(written.build());
    try {
        return layout_of(sass::kernel_code(sass::Cubin(code->cubin), compiled.name()), slots);
    } catch (const InputError&) {
        return std::nullopt;  // unknown encoding: offsets then count the slots alone
    }
}

ptx::KernelBuilder kernel_of(device::Device& device, std::uint32_t slots) {
    return chase_kernel(target_of(device), slots, find_filling(device, bytes_of_instruction(device)));
}

}  // namespace gputomo::measure::code_chase
