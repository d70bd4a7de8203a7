// Where a compiler put the sides of a branch: PTX says which side a branch goes to, machine code may have it the other
// way round.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace gputomo::measure {

/// Appends `pairs` of dependent operations that no compiler can shorten and that carry `mark` as an immediate operand;
/// enough of them keep it from using predicates instead of a branch.
void append_marked(ptx::KernelBuilder& kernel, ptx::Reg value, ptx::Reg addend, std::uint32_t mark, int pairs);

/// Code is found by an immediate operand that nothing else has. Whether the code of every mark is what a conditional
/// branch before it falls through to; false where each is what some branch goes to, nullopt where it is the one for
/// some and the other for others, or where a mark or its branch can't be found. True without machine code, where PTX
/// itself is executed.
[[nodiscard]] std::optional<bool> all_fall_through(const CompiledKernel& kernel, std::span<const std::uint32_t> marks);

}  // namespace gputomo::measure
