#include "measure/control/branch_layout.hpp"

#include "sass/machine_code.hpp"
#include "units/error.hpp"

#include <algorithm>

namespace gputomo::measure {
namespace {

/// A 32-bit immediate lies in the upper half of an instruction's first word.
constexpr int kImmediateShift = 32;

/// Searches backwards from the first instruction with this immediate for the branch that leads here.
std::optional<bool> falls_through(std::span<const sass::MachineInstruction> code, std::uint32_t mark) {
    const auto first = std::ranges::find_if(
        code, [&](const auto& i) { return static_cast<std::uint32_t>(i.low >> kImmediateShift) == mark; });
    if (first == code.end()) return std::nullopt;
    for (auto at = first; at != code.begin();) {
        --at;
        if (at->is("EXIT") && at->guard().empty()) return false;
        if (at->is("BRA")) return !at->guard().empty();
    }
    return std::nullopt;
}

}  // namespace

void append_marked(ptx::KernelBuilder& k, ptx::Reg value, ptx::Reg addend, std::uint32_t mark, int pairs) {
    k.repeat(pairs, [&](int) {
        k("add.u32", value, value, addend);
        k("xor.b32", value, value, static_cast<std::int64_t>(mark));
    });
}

std::optional<bool> all_fall_through(const CompiledKernel& kernel, std::span<const std::uint32_t> marks) {
    const auto& machine_code = kernel.module().machine_code();
    if (!machine_code) return true;
    try {
        const sass::Cubin cubin(machine_code->cubin);
        const auto code = sass::kernel_code(cubin, kernel.name());
        std::optional<bool> all;
        for (const auto mark : marks) {
            const auto one = falls_through(code.instructions(), mark);
            if (!one || (all && *all != *one)) return std::nullopt;
            all = one;
        }
        return all;
    } catch (const InputError&) {
        return std::nullopt;  // unknown encoding
    }
}

}  // namespace gputomo::measure
