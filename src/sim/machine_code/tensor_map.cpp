#include "sim/machine_code/tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

namespace gputomo::sim::machine_code {
namespace {

constexpr std::uint64_t kStrideUnit = 16;  ///< bytes

/// Fields that cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col of driver 580 leave zero: first bit and count. Bit 65
/// is set in maps of 64 bytes (kTensorMapBytes).
constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kUnknownBits{
    {{57, 7}, {66, 2}, {83, 13}, {240, 16}, {431, 9}, {490, 22}}};

/// The fields of a tensor map. They were found by comparing what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col
/// write for 12,753 sets of arguments (docs/asynchronous-copies.md).
class Bits {
public:
    explicit Bits(std::span<const std::byte, kTensorMapBytes> bytes) {
        std::memcpy(words_.data(), bytes.data(), kTensorMapBytes);
    }
    Bits() = default;
    void set(std::size_t first, std::size_t count, std::uint64_t value) {
        words_[first / 64] |= value << (first % 64);
        if (first % 64 + count > 64) words_[first / 64 + 1] |= value >> (64 - first % 64);
    }
    [[nodiscard]] std::array<std::byte, kTensorMapBytes> bytes() const {
        return std::bit_cast<std::array<std::byte, kTensorMapBytes>>(words_);
    }
    [[nodiscard]] std::uint64_t field(std::size_t first, std::size_t count) const {
        std::uint64_t value = words_[first / 64] >> (first % 64);
        if (first % 64 + count > 64) value |= words_[first / 64 + 1] << (64 - first % 64);
        return count == 64 ? value : value & ((std::uint64_t{1} << count) - 1);
    }
    [[nodiscard]] std::int32_t signed_field(std::size_t first, std::size_t count) const {
        const auto value = static_cast<std::int64_t>(field(first, count) << (64 - count));
        return static_cast<std::int32_t>(value >> (64 - count));
    }

private:
    std::array<std::uint64_t, kTensorMapBytes / 8> words_{};
};

/// By their number in a map.
constexpr ElementType kTypes[] = {ElementType::u8,          ElementType::u16, ElementType::u32, ElementType::s32,
                                  ElementType::u64,         ElementType::s64, ElementType::f16, ElementType::f32,
                                  ElementType::f32_flushed, ElementType::f64, ElementType::bf16};

/// Elements of the box in a dimension that are copied.
std::uint64_t copied(const TensorMap& map, std::size_t dimension) {
    return (map.box[dimension] + map.step[dimension] - 1) / map.step[dimension];
}

/// Bytes of shared memory from one row of elements to the next. Rows of a swizzled box begin where the pattern does.
std::uint64_t pitch_of(const TensorMap& map, std::uint64_t elements) {
    constexpr std::uint64_t kSpans[] = {0, 32, 64, 128};
    return std::max(elements * bytes_of(map.type), kSpans[static_cast<std::size_t>(map.swizzle)]);
}

/// A row of the box: the elements of the first dimension.
struct Row {
    std::uint64_t shared = 0;   ///< bytes from the beginning of the box
    std::uint64_t address = 0;  ///< of the element whose first coordinate is 0
    bool inside = false;        ///< as far as the other coordinates say
    std::int64_t first = 0;     ///< coordinate of its first element
    std::uint64_t count = 0;
};

/// A row has at most three runs: before, within and behind the tensor.
void visit_row(const TensorMap& map, const Row& row, bool stores, const VisitRun& visit) {
    const auto element = static_cast<std::int64_t>(bytes_of(map.type));
    const auto step = static_cast<std::int64_t>(map.step[0]), count = static_cast<std::int64_t>(row.count);
    // A store does not end within a piece.
    const std::int64_t whole = stores ? kBoxPiece / element : 1;
    const auto size = (static_cast<std::int64_t>(map.size[0]) + whole - 1) / whole * whole;
    std::int64_t from = row.first >= 0 ? 0 : std::min(count, (-row.first + step - 1) / step);
    std::int64_t to = row.first >= size ? 0 : std::min(count, (size - row.first + step - 1) / step);
    if (!row.inside || to <= from) from = to = count;
    const auto run = [&](std::int64_t begin, std::int64_t end, bool inside) {
        if (begin >= end) return;
        visit({.shared = row.shared + static_cast<std::uint64_t>(begin * element),
               .elements = static_cast<std::uint64_t>(end - begin),
               .inside = inside,
               .address = row.address + static_cast<std::uint64_t>((row.first + begin * step) * element),
               .stride = static_cast<std::uint64_t>(step * element)});
    };
    run(0, from, false);
    run(from, to, true);
    run(to, count, false);
}

bool is_inside(std::int64_t coordinate, std::uint64_t size) {
    return coordinate >= 0 && static_cast<std::uint64_t>(coordinate) < size;
}

void visit_tile(const TensorMap& map, const BoxPlace& place, bool stores, const VisitRun& visit) {
    const std::uint64_t row_bytes = pitch_of(map, copied(map, 0));
    std::array<std::uint64_t, kMostDimensions> at{};
    std::uint64_t shared = 0;
    for (;;) {
        Row row{
            .shared = shared, .address = map.address, .inside = true, .first = place.at[0], .count = copied(map, 0)};
        for (std::size_t i = 1; i < map.dimensions; ++i) {
            const std::int64_t coordinate = place.at[i] + static_cast<std::int64_t>(at[i] * map.step[i]);
            row.inside = row.inside && is_inside(coordinate, map.size[i]);
            row.address += static_cast<std::uint64_t>(coordinate) * map.stride[i];
        }
        visit_row(map, row, stores, visit);
        shared += row_bytes;
        std::size_t i = 1;
        for (; i < map.dimensions && ++at[i] == copied(map, i); ++i) at[i] = 0;
        if (i >= map.dimensions) return;
    }
}

/// Pixels follow each other along the first spatial dimension, then along the next, and then to the next image. They
/// never leave the box of pixels.
void visit_pixels(const TensorMap& map, const BoxPlace& place, bool stores, const VisitRun& visit) {
    const std::size_t spatial = map.dimensions - 2, image = map.dimensions - 1;
    const std::uint64_t row_bytes = pitch_of(map, map.channels);
    std::array<std::int64_t, kMostDimensions> at{};
    for (std::size_t i = 0; i < map.dimensions; ++i) at[i] = place.at[i];
    for (std::uint64_t pixel = 0; pixel < map.pixels; ++pixel) {
        Row row{.shared = pixel * row_bytes,
                .address = map.address + static_cast<std::uint64_t>(at[image]) * map.stride[image],
                .inside = is_inside(at[image], map.size[image]),
                .first = place.at[0],
                .count = map.channels};
        for (std::size_t i = 0; i < spatial; ++i) {
            const std::int64_t coordinate = at[i + 1] + static_cast<std::int64_t>(place.offset[i]);
            row.inside = row.inside && is_inside(coordinate, map.size[i + 1]);
            row.address += static_cast<std::uint64_t>(coordinate) * map.stride[i + 1];
        }
        visit_row(map, row, stores, visit);
        std::size_t i = 0;
        for (; i < spatial; ++i) {
            at[i + 1] += map.step[i + 1];
            const auto end = static_cast<std::int64_t>(map.size[i + 1]) + map.upper[i];
            if (at[i + 1] < end) break;
            at[i + 1] = map.lower[i];
        }
        if (i == spatial) at[image] += map.step[image];
    }
}

}  // namespace

std::optional<TensorMap> decode_tensor_map(std::span<const std::byte, kTensorMapBytes> bytes, std::string& error) {
    const Bits bits(bytes);
    TensorMap map;
    map.im2col = bits.field(64, 1) != 0;
    map.dimensions = bits.field(68, 3) + 1;
    const std::uint64_t type = bits.field(71, 4), interleave = bits.field(75, 2), swizzle = bits.field(77, 2);
    constexpr std::uint64_t kInterleaves = 3;
    if (map.dimensions > kMostDimensions) error = fmt::format("has {} dimensions", map.dimensions);
    if (map.im2col && map.dimensions < 3) error = fmt::format("has {} dimensions, too few for im2col", map.dimensions);
    if (type >= std::size(kTypes)) error = fmt::format("has elements of the unknown type {}", type);
    if (interleave >= kInterleaves) error = fmt::format("has the unknown interleave {}", interleave);
    for (const auto& [first, count] : kUnknownBits)
        if (bits.field(first, count) != 0) error = fmt::format("has bits that are not known, from bit {} on", first);
    if (!error.empty()) return {};
    map.type = kTypes[type];
    map.interleave = static_cast<Interleave>(interleave);
    map.swizzle = static_cast<Swizzle>(swizzle);
    map.fills_nan = bits.field(79, 1) != 0;
    map.tensor_float = bits.field(80, 1) != 0;
    if (map.interleave != Interleave::none) {
        error = "is of interleaved elements, which are not simulated";
        return {};
    }
    map.address = bits.field(0, 57);
    map.stride[0] = bytes_of(map.type);
    for (std::size_t i = 0; i < kMostDimensions; ++i) {
        map.size[i] = bits.field(256 + 32 * i, 32) + 1;
        map.step[i] = static_cast<std::uint32_t>(bits.field(416 + 3 * i, 3)) + 1;
        if (i > 0)
            map.stride[i] = kStrideUnit * (bits.field(96 + 32 * (i - 1), 32) | bits.field(224 + 4 * (i - 1), 4) << 32);
    }
    map.step[0] = 1;  // Without interleave, the unit takes no notice of the first one.
    const auto inner = static_cast<std::uint32_t>(bits.field(440, 8)) + 1;
    map.box[0] = inner;
    if (!map.im2col) {
        for (std::size_t i = 1; i < kMostDimensions; ++i)
            map.box[i] = static_cast<std::uint32_t>(bits.field(448 + 8 * (i - 1), 8)) + 1;
        return map;
    }
    map.channels = inner;
    map.pixels = static_cast<std::uint32_t>(bits.field(480, 10)) + 1;
    constexpr std::size_t kBits[] = {16, 8, 5};
    const std::size_t spatial = map.dimensions - 2, width = kBits[spatial - 1];
    for (std::size_t i = 0; i < spatial; ++i) {
        map.lower[i] = bits.signed_field(448 + width * i, width);
        map.upper[i] = bits.signed_field(464 + width * i, width);
    }
    return map;
}

std::array<std::byte, kTensorMapBytes> encode_tensor_map(const TensorMap& map) {
    Bits bits;
    bits.set(0, 57, map.address);
    bits.set(68, 3, map.dimensions - 1);
    bits.set(71, 4, static_cast<std::uint64_t>(std::ranges::find(kTypes, map.type) - std::begin(kTypes)));
    bits.set(77, 2, static_cast<std::uint64_t>(map.swizzle));
    bits.set(79, 1, map.fills_nan ? 1 : 0);
    bits.set(80, 1, map.tensor_float ? 1 : 0);
    for (std::size_t i = 0; i < map.dimensions; ++i) {
        bits.set(256 + 32 * i, 32, map.size[i] - 1);
        bits.set(416 + 3 * i, 3, map.step[i] - 1);
        if (i == 0) continue;
        const std::uint64_t stride = map.stride[i] / kStrideUnit;
        bits.set(96 + 32 * (i - 1), 32, stride & 0xFFFFFFFF);
        bits.set(224 + 4 * (i - 1), 4, stride >> 32);
    }
    bits.set(440, 8, map.box[0] - 1);
    for (std::size_t i = 1; i < map.dimensions; ++i) bits.set(448 + 8 * (i - 1), 8, map.box[i] - 1);
    return bits.bytes();
}

std::uint64_t box_bytes(const TensorMap& map) {
    std::uint64_t elements = 1;
    if (map.im2col)
        elements = std::uint64_t{map.channels} * map.pixels;
    else
        for (std::size_t i = 0; i < map.dimensions; ++i) elements *= copied(map, i);
    return elements * bytes_of(map.type);
}

std::uint64_t shared_bytes(const TensorMap& map) {
    if (map.im2col) return map.pixels * pitch_of(map, map.channels);
    std::uint64_t rows = 1;
    for (std::size_t i = 1; i < map.dimensions; ++i) rows *= copied(map, i);
    return rows * pitch_of(map, copied(map, 0));
}

void for_runs(const TensorMap& map, const BoxPlace& place, bool stores, const VisitRun& visit) {
    if (map.im2col)
        visit_pixels(map, place, stores, visit);
    else
        visit_tile(map, place, stores, visit);
}

}  // namespace gputomo::sim::machine_code
