#include "measure/asynchronous/tensor_maps.hpp"

namespace gputomo::measure {
namespace {

constexpr std::array kBoxes = {TensorBox{8, 1},        TensorBox{8, 64},        TensorBox{8, 256},
                               TensorBox{16, 64, 32},  TensorBox{32, 64, 64},   TensorBox{64, 64},
                               TensorBox{64, 64, 128}, TensorBox{64, 256, 128}, TensorBox{256, 128}};
constexpr std::uint32_t kSide = 4096;      ///< halves of a row of the tensor, and its rows
constexpr std::uint32_t kStrideUnit = 16;  ///< bytes in which a map gives the distance of rows

}  // namespace

std::span<const TensorBox> tensor_boxes() { return kBoxes; }

std::array<std::uint32_t, 32> tensor_map(const TensorBox& box, std::uint64_t address) {
    std::array<std::uint32_t, 32> words{};
    words[0] = static_cast<std::uint32_t>(address);
    words[1] = static_cast<std::uint32_t>(address >> 32);
    // Two dimensions of halves without interleave, and the swizzle's number.
    const std::uint32_t number = box.swizzle == 32 ? 1 : box.swizzle == 64 ? 2 : box.swizzle == 128 ? 3 : 0;
    words[2] = 0x310 | number << 13;
    words[3] = 2 * kSide / kStrideUnit;
    words[8] = words[9] = kSide - 1;
    words[13] = (box.columns - 1) << 24;
    words[14] = box.rows - 1;
    // Bytes of the box, and those after which the swizzle repeats.
    words[16] = box_bytes(box);
    words[18] = box.swizzle > 0 ? 8 * box.swizzle : 16;
    return words;
}

}  // namespace gputomo::measure
