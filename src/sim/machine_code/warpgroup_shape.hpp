// The shapes of products of a warp group: HGMMA, QGMMA, IGMMA and BGMMA.
#pragma once

#include "sass/instruction.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gputomo::sim::machine_code::warpgroup {

[[nodiscard]] bool multiplies_warpgroup(sass::Operation operation);
[[nodiscard]] bool is_sparse(const sass::Instruction& instruction);
/// Whether it ends a group of products (wgmma.commit_group). False where the instruction has no form.
[[nodiscard]] bool commits_products(const sass::Instruction& instruction);
/// The sparsity selector, which says what lanes hold the metadata of a sparse A; 0 where the instruction has none.
[[nodiscard]] std::uint32_t selector_of(const sass::Instruction& instruction);
/// Whether the rows of A are in registers.
[[nodiscard]] bool reads_a_from_registers(const sass::Instruction& instruction);
/// Registers from the first one of an operand on: those of A, of the accumulators, or of the metadata of a sparse A. It
/// is 1 for other instructions. Counting accumulators for A as well would let fewer blocks fit an SM than do.
[[nodiscard]] int registers_of_operand(const sass::Instruction& instruction, std::size_t operand);
/// "wgmma.m64n256k16.f32.f16.f16", and ".registers" behind it where A is in registers: the operation of a machine
/// description that has its cost. It begins with "wgmma.sp." where A is sparse.
[[nodiscard]] std::string product_name(const sass::Instruction& instruction);
/// N and K of m64nNkK.
[[nodiscard]] int columns_of(const sass::Instruction& instruction);
[[nodiscard]] int depth_of(const sass::Instruction& instruction);

}  // namespace gputomo::sim::machine_code::warpgroup
