// Tensor maps of two-dimensional tensors of halves, as cuTensorMapEncodeTiled of driver 580 writes them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace gputomo::measure {

/// A box of a tensor with 4096 x 4096 halves.
struct TensorBox {
    std::uint32_t columns = 8, rows = 1;
    std::uint32_t swizzle = 0;  ///< bytes of the pattern: 0, 32, 64 or 128
};

/// Boxes whose copies are timed: of several sizes and with all swizzles.
[[nodiscard]] std::span<const TensorBox> tensor_boxes();
/// Bytes of shared memory that the box takes.
[[nodiscard]] constexpr std::uint32_t box_bytes(const TensorBox& box) { return 2 * box.columns * box.rows; }
/// The 128 bytes of the map for a tensor that begins at this address, a multiple of 16.
[[nodiscard]] std::array<std::uint32_t, 32> tensor_map(const TensorBox& box, std::uint64_t address);

}  // namespace gputomo::measure
