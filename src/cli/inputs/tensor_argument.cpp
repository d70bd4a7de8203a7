#include "cli/inputs/tensor_argument.hpp"

#include "cli/inputs/kernel_arguments.hpp"
#include "sim/machine_code/tensor_map.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace gputomo::cli {
namespace {

using sim::machine_code::ElementType;
using sim::machine_code::Swizzle;

constexpr std::array<std::pair<std::string_view, ElementType>, 10> kTypes{{{"u8", ElementType::u8},
                                                                           {"u16", ElementType::u16},
                                                                           {"u32", ElementType::u32},
                                                                           {"s32", ElementType::s32},
                                                                           {"u64", ElementType::u64},
                                                                           {"s64", ElementType::s64},
                                                                           {"f16", ElementType::f16},
                                                                           {"f32", ElementType::f32},
                                                                           {"f64", ElementType::f64},
                                                                           {"bf16", ElementType::bf16}}};
constexpr std::array<std::pair<std::string_view, Swizzle>, 3> kSwizzles{
    {{"32", Swizzle::bytes_32}, {"64", Swizzle::bytes_64}, {"128", Swizzle::bytes_128}}};

/// The size of a CUtensorMap.
constexpr std::size_t kMapBytes = 128;
constexpr std::uint64_t kPiece = 16;  ///< bytes: rows of a tensor begin and rows of a box end at multiples of it
constexpr std::uint64_t kMostOfBox = 256, kMostOfTensor = std::uint64_t{1} << 32, kMostBytes = std::uint64_t{1} << 40;

std::vector<std::string_view> parts_of(std::string_view text, char divider) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at != std::string_view::npos;) {
        const auto end = text.find(divider, at);
        parts.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
        at = end == std::string_view::npos ? end : end + 1;
    }
    return parts;
}

std::vector<std::uint64_t> sizes_of(std::string_view text, std::uint64_t most, const std::string& where) {
    std::vector<std::uint64_t> sizes;
    for (const auto part : parts_of(text, 'x')) {
        const auto size = number<std::uint64_t>(part, where);
        if (size < 1 || size > most) throw InputError(fmt::format("{}: found {}; expected 1 to {}", where, size, most));
        sizes.push_back(size);
    }
    return sizes;
}

template <class Table>
auto named(const Table& table, std::string_view name, const std::string& where, std::string_view expected) {
    const auto found = std::ranges::find(table, name, [](const auto& row) { return row.first; });
    if (found == table.end()) throw InputError(fmt::format("{}: found '{}'; expected {}", where, name, expected));
    return found->second;
}

}  // namespace

TensorArgument tensor_argument(std::string_view text, const std::string& where) {
    const auto parts = parts_of(text, ':');
    if (parts.size() != 3 && parts.size() != 4)
        throw InputError(where + ": expected tensor:TYPE:SIZES:BOX[:SWIZZLE], such as tensor:f16:4096x1024:64x128:128");
    sim::machine_code::TensorMap map;
    map.type = named(kTypes, parts[0], where, "u8, u16, u32, s32, u64, s64, f16, bf16, f32 or f64");
    const auto sizes = sizes_of(parts[1], kMostOfTensor, where), box = sizes_of(parts[2], kMostOfBox, where);
    map.dimensions = sizes.size();
    if (map.dimensions > sim::machine_code::kMostDimensions || box.size() != map.dimensions)
        throw InputError(
            fmt::format("{}: found {} sizes of the tensor and {} of a box; expected as many of both, at most {}", where,
                        sizes.size(), box.size(), sim::machine_code::kMostDimensions));
    map.size.fill(1);
    map.box.fill(1);
    map.step.fill(1);
    std::uint64_t stride = bytes_of(map.type);
    for (std::size_t i = 0; i < map.dimensions; ++i) {
        if (i > 0 && stride % kPiece != 0)
            throw InputError(
                fmt::format("{}: rows of {} bytes; expected a multiple of {} for TMA", where, stride, kPiece));
        map.stride[i] = stride;
        map.size[i] = sizes[i];
        map.box[i] = static_cast<std::uint32_t>(box[i]);
        if (sizes[i] > kMostBytes / stride)
            throw InputError(fmt::format("{}: the tensor has more than {} bytes; expected fewer", where, kMostBytes));
        stride *= sizes[i];
    }
    const auto row = box[0] * bytes_of(map.type);
    if (row % kPiece != 0)
        throw InputError(fmt::format("{}: rows of a box have {} bytes; expected a multiple of {}", where, row, kPiece));
    if (parts.size() == 4) {
        map.swizzle = named(kSwizzles, parts[3], where, "a swizzle of 32, 64 or 128 bytes");
        if (row > number<std::uint64_t>(parts[3], where))
            throw InputError(fmt::format("{}: rows of a box have {} bytes; expected at most the {} of the swizzle",
                                         where, row, parts[3]));
    }
    TensorArgument argument{.map = std::vector<std::byte>(kMapBytes), .bytes = stride};
    std::ranges::copy(sim::machine_code::encode_tensor_map(map), argument.map.begin());
    return argument;
}

}  // namespace gputomo::cli
