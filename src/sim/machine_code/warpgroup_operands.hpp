// Where the matrices of a warp group's product lie in shared memory (PTX ISA 9.7.15.5).
#pragma once

#include <cstdint>

namespace gputomo::sim::machine_code::warpgroup {

/// A matrix descriptor. Addresses and offsets are in bytes.
struct MatrixDescriptor {
    std::uint32_t start = 0;
    std::uint32_t leading = 0;  ///< leading dimension byte offset
    std::uint32_t stride = 0;   ///< stride dimension byte offset
    std::uint32_t base = 0;     ///< base offset, 0 to 7
    std::uint32_t span = 0;     ///< bytes of a row within which chunks change places; 0: no swizzle
};

[[nodiscard]] constexpr MatrixDescriptor descriptor_of(std::uint64_t bits) {
    constexpr std::uint64_t kField = 0x3FFF;
    constexpr std::uint32_t kUnit = 16;
    constexpr std::uint32_t kSpans[] = {0, 128, 64, 32};
    return {.start = static_cast<std::uint32_t>(bits & kField) * kUnit,
            .leading = static_cast<std::uint32_t>(bits >> 16 & kField) * kUnit,
            .stride = static_cast<std::uint32_t>(bits >> 32 & kField) * kUnit,
            .base = static_cast<std::uint32_t>(bits >> 49 & 7),
            .span = kSpans[bits >> 62]};
}

inline constexpr std::uint32_t kChunkBytes = 16;  ///< what stays together wherever it is moved

/// A swizzle moves a chunk within its row of `span` bytes by the number of the 128 bytes that it lies in. The base
/// offset says at which of them the pattern begins.
[[nodiscard]] constexpr std::uint32_t swizzled(const MatrixDescriptor& matrix, std::uint32_t address) {
    if (matrix.span == 0) return address;
    constexpr int kRowBits = 7, kChunkBits = 4;
    return address ^ (((address >> kRowBits) - matrix.base) & (matrix.span / kChunkBytes - 1)) << kChunkBits;
}

/// The address of 16 bytes of row `row` of A, or column of B, where elements along K are neighbours. `part` counts the
/// 16 bytes along K. A column that a sparse A is multiplied with may be longer than the swizzle's span: what is beyond
/// it lies the leading offset away.
[[nodiscard]] constexpr std::uint32_t chunk_along_k(const MatrixDescriptor& matrix, std::uint32_t row,
                                                    std::uint32_t part) {
    const std::uint32_t first = matrix.start + row / 8 * matrix.stride;
    if (matrix.span == 0) return first + row % 8 * kChunkBytes + part * matrix.leading;
    const std::uint32_t chunks = matrix.span / kChunkBytes;
    return swizzled(matrix,
                    first + part / chunks * matrix.leading + row % 8 * matrix.span + part % chunks * kChunkBytes);
}

/// The address of 8 neighbouring 16-bit elements of one k, where elements along the other dimension are neighbours.
/// `part` counts the 8 elements.
[[nodiscard]] constexpr std::uint32_t chunk_across_k(const MatrixDescriptor& matrix, std::uint32_t part,
                                                     std::uint32_t k) {
    if (matrix.span == 0) return matrix.start + part * matrix.stride + k % 8 * kChunkBytes + k / 8 * matrix.leading;
    const std::uint32_t chunks = matrix.span / kChunkBytes;
    return swizzled(matrix, matrix.start + part / chunks * matrix.leading + part % chunks * kChunkBytes +
                                k % 8 * matrix.span + k / 8 * matrix.stride);
}

}  // namespace gputomo::sim::machine_code::warpgroup
