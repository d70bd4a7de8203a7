// Tensor maps: the bytes that describe a tensor in global memory, and the boxes that are copied from it.
#pragma once

#include "sim/machine_code/bulk_copies.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace gputomo::sim::machine_code {

/// What the unit reads. cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col write 128 bytes, of which the second half
/// follows from the first. Maps of cuBLAS and cuDNN have the first half alone.
inline constexpr std::size_t kTensorMapBytes = 64;
inline constexpr std::size_t kMostDimensions = 5;
/// Bytes that are copied together: a box begins at a multiple of them, and a row that is stored ends at one.
inline constexpr std::int64_t kBoxPiece = 16;

enum class Interleave : std::uint8_t { none, bytes_16, bytes_32 };
/// Within this many bytes of shared memory, the 16-byte pieces of a row are exchanged by the row's number.
enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

/// What a tensor map says. The first dimension is the innermost one.
struct TensorMap {
    bool im2col = false;
    ElementType type = ElementType::u8;
    bool tensor_float = false;  ///< floats whose lower 13 bits are rounded off while they are copied
    std::size_t dimensions = 0;
    std::uint64_t address = 0;
    std::array<std::uint64_t, kMostDimensions> size{};    ///< elements
    std::array<std::uint64_t, kMostDimensions> stride{};  ///< bytes; that of the first one is an element's
    std::array<std::uint32_t, kMostDimensions> box{};     ///< elements that a box spans
    std::array<std::uint32_t, kMostDimensions> step{};    ///< elements from one that is copied to the next
    Interleave interleave = Interleave::none;
    Swizzle swizzle = Swizzle::none;
    bool fills_nan = false;  ///< what lies outside of the tensor is a NaN; otherwise zero
    // What only im2col has: the box of pixels, by spatial dimension.
    std::array<std::int32_t, 3> lower{}, upper{};
    std::uint32_t channels = 0, pixels = 0;
};

/// Reads a tensor map. What is wrong with it is left in `error`; then there is no map.
[[nodiscard]] std::optional<TensorMap> decode_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes,
                                                         std::string& error);

/// The bytes of a map that is not for im2col and has no interleave, as decode_tensor_map() reads them.
[[nodiscard]] std::array<std::byte, kTensorMapBytes> encode_tensor_map(const TensorMap& map);

/// Where a box begins: a coordinate for each dimension, and for im2col an offset for each spatial one.
struct BoxPlace {
    std::array<std::int32_t, kMostDimensions> at{};
    std::array<std::uint32_t, 3> offset{};
};

/// A run of elements of a box that lie together in shared memory before swizzling.
struct BoxRun {
    std::uint64_t shared = 0;  ///< bytes from the beginning of the box
    std::uint64_t elements = 0;
    bool inside = false;        ///< of the tensor
    std::uint64_t address = 0;  ///< of the first element, where it is inside
    std::uint64_t stride = 0;   ///< bytes from one element to the next in global memory
};

/// Bytes of the elements of a box, which are reported to its barrier.
[[nodiscard]] std::uint64_t box_bytes(const TensorMap& map);
/// Bytes of shared memory from the box's first element to the end of its last row, with the gaps between its rows.
[[nodiscard]] std::uint64_t shared_bytes(const TensorMap& map);

/// Where a byte of a box lies in shared memory, whose address decides how pieces are exchanged.
[[nodiscard]] constexpr std::uint64_t swizzled(Swizzle swizzle, std::uint64_t address) {
    constexpr std::uint64_t kMasks[] = {0, 1, 3, 7};
    return address ^ ((address >> 7 & kMasks[static_cast<std::size_t>(swizzle)]) << 4);
}

/// Called with each run of a box.
using VisitRun = std::function<void(const BoxRun&)>;
/// Visits the runs of the box, in the order of shared memory. A box that is stored may write up to 15 bytes behind the
/// first dimension's end, as an H200 does: it writes whole pieces of 16 bytes.
void for_runs(const TensorMap& map, const BoxPlace& place, bool stores, const VisitRun& visit);

}  // namespace gputomo::sim::machine_code
