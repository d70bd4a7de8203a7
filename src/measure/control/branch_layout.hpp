// Where the compiler put the two sides of a branch. PTX says which side falls through, but the machine code may swap
// them.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace gputomo::measure {

/// Appends `pairs` pairs of dependent operations that no compiler can shorten and that carry `mark` as an immediate
/// operand. Enough of them keep the compiler from using predicates instead of a branch.
void append_marked(ptx::KernelBuilder& kernel, ptx::Reg value, ptx::Reg addend, std::uint32_t mark, int pairs);

/// Finds code by an immediate operand that no other code has. True if a conditional branch falls through to the code
/// of every mark, and without machine code, where the PTX itself is executed. False if each is the target of a branch.
/// The result is nullopt if the marks differ in this, or if a mark or its branch is not found.
[[nodiscard]] std::optional<bool> all_fall_through(const CompiledKernel& kernel, std::span<const std::uint32_t> marks);

}  // namespace gputomo::measure
