// The arithmetic is that of the CUDA programming guide, "Texture fetching". How it rounds was found on an H100. Fetches
// of the nearest texel are equal bit for bit, and filtered ones to a few units in the last place.
#include "sim/exec/sampling.hpp"

#include "sim/exec/half_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace gputomo::sim {
namespace {

using Element = TextureObject::Element;
using Outside = TextureObject::Outside;

std::uint64_t element_bytes(Element element) {
    switch (element) {
        case Element::u8:
        case Element::s8: return 1;
        case Element::u16:
        case Element::s16:
        case Element::f16: return 2;
        default: return 4;
    }
}

bool is_signed(Element element) { return element == Element::s8 || element == Element::s16 || element == Element::s32; }

bool is_float(Element element) { return element == Element::f16 || element == Element::f32; }

/// Integers of 32 bits are never made floats.
bool gives_floats(const TextureObject& texture) {
    if (is_float(texture.element)) return true;
    return !texture.as_integer && element_bytes(texture.element) < 4;
}

/// An element as the fetch returns it.
std::uint32_t value_of_element(const TextureObject& texture, std::uint32_t bits) {
    const Element element = texture.element;
    if (element == Element::f32) return bits;
    if (element == Element::f16)
        return std::bit_cast<std::uint32_t>(static_cast<float>(value_of<F16>(static_cast<std::uint16_t>(bits))));
    const auto width = static_cast<unsigned>(8 * element_bytes(element));
    if (is_signed(element) && width < 32 && (bits >> (width - 1) & 1) != 0) bits |= ~0U << width;
    if (!gives_floats(texture)) return bits;
    if (!is_signed(element))
        return std::bit_cast<std::uint32_t>(static_cast<float>(bits) / static_cast<float>((1U << width) - 1));
    // The most negative number is -1 too.
    const auto most = static_cast<float>((1U << (width - 1)) - 1);
    return std::bit_cast<std::uint32_t>(std::max(static_cast<float>(static_cast<std::int32_t>(bits)) / most, -1.0F));
}

std::uint64_t size_of(const TextureObject& texture, std::size_t dimension) {
    const std::uint64_t size = dimension == 0 ? texture.width : dimension == 1 ? texture.height : texture.depth;
    return std::max<std::uint64_t>(size, 1);
}

/// Wrapping needs normalized coordinates; without them the driver clamps.
Outside outside_of(const TextureObject& texture, std::size_t dimension) {
    const Outside outside = texture.outside[dimension];
    return !texture.normalized && (outside == Outside::wrap || outside == Outside::mirror) ? Outside::clamp : outside;
}

constexpr std::int64_t kBorder = -1;

/// The texel that stands for one outside, in one dimension.
std::int64_t inside(Outside outside, std::int64_t at, std::int64_t size) {
    if (at >= 0 && at < size) return at;
    const auto modulo = [&](std::int64_t by) { return ((at % by) + by) % by; };
    switch (outside) {
        case Outside::wrap: return modulo(size);
        case Outside::mirror: {
            const std::int64_t place = modulo(2 * size);
            return place < size ? place : 2 * size - 1 - place;
        }
        case Outside::border: return kBorder;
        default: return at < 0 ? 0 : size - 1;
    }
}

/// The largest number of an integer format, which is 1 as a float.
double most_of(Element element) {
    const auto width = static_cast<int>(8 * element_bytes(element));
    return std::ldexp(1.0, is_signed(element) ? width - 1 : width) - 1;
}

/// A channel as a linear filter adds it: a float, or a short integer's number.
double in_units(const TextureObject& texture, std::uint32_t bits) {
    const auto value = static_cast<double>(std::bit_cast<float>(bits));
    return is_float(texture.element) ? value : std::nearbyint(value * most_of(texture.element));
}

/// What the filter returns. Short integers become fractions with 16 bits, rounded to nearest, as on an H100.
std::uint32_t filtered_bits(const TextureObject& texture, double sum) {
    if (is_float(texture.element)) return std::bit_cast<std::uint32_t>(static_cast<float>(sum));
    const double most = is_signed(texture.element) ? 32767 : 65535;
    const double units = std::floor(sum * (most / most_of(texture.element)) + 0.5);
    return std::bit_cast<std::uint32_t>(static_cast<float>(units / most));
}

/// The border has the format of the texels. Which integer it is where texels are read as integers is not known.
Texel border_of(const TextureObject& texture) {
    Texel texel{};
    if (!gives_floats(texture)) return texel;
    for (std::size_t i = 0; i < texture.channels; ++i) {
        float value = texture.border[i];
        if (!is_float(texture.element)) {
            const double most = most_of(texture.element), least = is_signed(texture.element) ? -1 : 0;
            value = static_cast<float>(std::trunc(std::clamp(static_cast<double>(value), least, 1.0) * most) / most);
        }
        texel[i] = std::bit_cast<std::uint32_t>(value);
    }
    return texel;
}

/// A coordinate in texels. Numbers that no texture is as large as, and NaN, are cut off.
double in_texels(const TextureObject& texture, const TexturePoint& point, std::size_t dimension) {
    constexpr double kFarthest = 1 << 24;
    double at = static_cast<double>(point.coordinate[dimension]);
    if (std::isnan(at)) at = 0;
    if (texture.normalized) {
        const Outside outside = outside_of(texture, dimension);
        // Without its whole part a coordinate far away keeps its place in the repeated texture.
        if (outside == Outside::wrap) at -= std::floor(at);
        if (outside == Outside::mirror) at -= 2 * std::floor(at / 2);
        at *= static_cast<double>(size_of(texture, dimension));
    }
    return std::clamp(at, -kFarthest, kFarthest);
}

/// Weights of a linear filter are multiples of one part of this many.
constexpr int kWeights = 256;

/// The texels of a linear filter in one dimension, and the weight of the second one.
struct Neighbours {
    std::int64_t first = 0, second = 0;
    int weight = 0;
};

Neighbours neighbours_of(const TextureObject& texture, const TexturePoint& point, std::size_t dimension) {
    const auto size = static_cast<std::int64_t>(size_of(texture, dimension));
    const Outside outside = outside_of(texture, dimension);
    const auto at =
        static_cast<std::int64_t>(std::floor((in_texels(texture, point, dimension) - 0.5) * kWeights + 0.5));
    const std::int64_t first = at >> std::countr_zero(static_cast<unsigned>(kWeights));
    return {inside(outside, first, size), inside(outside, first + 1, size), static_cast<int>(at - first * kWeights)};
}

/// The weights of the corners, of which the lowest bit is x. Products are rounded to nearest, and the sum stays
/// `kWeights`. On an H100 all weights in two dimensions were these, and the sums of 83% of 4096 points in three.
std::array<int, 8> weights_of(const std::array<Neighbours, 3>& neighbours) {
    const auto product = [](int x, int y) { return (x * y + kWeights / 2) / kWeights; };
    const int a = neighbours[0].weight, b = neighbours[1].weight, c = neighbours[2].weight;
    const int ab = product(a, b), ac = product(a, c), bc = product(b, c), abc = product(ac, b);
    const std::array<int, 4> both{kWeights - a - b + ab, a - ab, b - ab, ab},
        far{c - ac - bc + abc, ac - abc, bc - abc, abc};
    std::array<int, 8> weights{};
    for (std::size_t corner = 0; corner < both.size(); ++corner) {
        weights[corner] = both[corner] - far[corner];
        weights[corner + both.size()] = far[corner];
    }
    return weights;
}

std::int64_t layer_of(const TextureObject& texture, const TexturePoint& point) {
    return std::min<std::int64_t>(point.layer, static_cast<std::int64_t>(size_of(texture, 2)) - 1);
}

Texel read_texel(const TextureObject& texture, const DeviceMemory& memory, const std::array<std::int64_t, 3>& place,
                 ReadTexels& read) {
    if (std::ranges::find(place, kBorder) != place.end()) return border_of(texture);
    return texel_at(texture, memory, place, read);
}

}  // namespace

std::uint64_t TextureObject::texel_bytes() const { return channels * element_bytes(element); }

std::uint64_t TextureObject::bytes() const {
    const std::uint64_t rows = size_of(*this, 1) * size_of(*this, 2);
    return (rows - 1) * pitch + width * texel_bytes();
}

std::string refusal_of(const TextureObject& texture) {
    using Memory = TextureObject::Memory;
    constexpr std::array kElements{Element::u8,  Element::u16, Element::u32, Element::s8,
                                   Element::s16, Element::s32, Element::f16, Element::f32};
    if (std::ranges::find(kElements, texture.element) == kElements.end())
        return fmt::format("its element format {:#x} is not simulated", static_cast<unsigned>(texture.element));
    if (texture.channels != 1 && texture.channels != 2 && texture.channels != 4)
        return fmt::format("it has {} channels; expected 1, 2 or 4", texture.channels);
    if (texture.width == 0) return "it has no texels";
    if (texture.memory != Memory::linear && texture.linear_filter && !gives_floats(texture))
        return "it filters integers";
    return {};
}

Texel texel_at(const TextureObject& texture, const DeviceMemory& memory, const std::array<std::int64_t, 3>& place,
               ReadTexels& read) {
    std::uint64_t row = 0;
    for (const std::size_t dimension : {std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
        const std::uint64_t size = size_of(texture, dimension);
        if (place[dimension] < 0 || static_cast<std::uint64_t>(place[dimension]) >= size) return {};
        if (dimension != 0) row = row * size + static_cast<std::uint64_t>(place[dimension]);
    }
    const std::uint64_t bytes = texture.texel_bytes();
    const std::uint64_t address = texture.address + row * texture.pitch + static_cast<std::uint64_t>(place[0]) * bytes;
    const std::byte* const from = memory.resolve(address, bytes);
    if (from == nullptr) return {};
    if (read.count < read.addresses.size()) read.addresses[read.count++] = address;
    Texel texel{};
    const std::uint64_t each = element_bytes(texture.element);
    for (std::size_t i = 0; i < texture.channels; ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, from + i * each, each);
        texel[i] = value_of_element(texture, bits);
    }
    return texel;
}

Texel sample(const TextureObject& texture, const DeviceMemory& memory, const TexturePoint& point, ReadTexels& read) {
    std::array<std::int64_t, 3> place{};
    if (texture.layered) place[2] = layer_of(texture, point);
    if (!texture.linear_filter) {
        for (std::size_t i = 0; i < point.dimensions; ++i)
            place[i] =
                inside(outside_of(texture, i), static_cast<std::int64_t>(std::floor(in_texels(texture, point, i))),
                       static_cast<std::int64_t>(size_of(texture, i)));
        return read_texel(texture, memory, place, read);
    }
    std::array<Neighbours, 3> neighbours{};
    for (std::size_t i = 0; i < point.dimensions; ++i) neighbours[i] = neighbours_of(texture, point, i);
    const std::array<int, 8> weights = weights_of(neighbours);
    std::array<double, 4> sum{};
    for (std::size_t corner = 0; corner < std::size_t{1} << point.dimensions; ++corner) {
        for (std::size_t i = 0; i < point.dimensions; ++i)
            place[i] = (corner >> i & 1) != 0 ? neighbours[i].second : neighbours[i].first;
        const Texel texel = read_texel(texture, memory, place, read);
        // A texel without weight may be infinite.
        if (weights[corner] == 0) continue;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weights[corner] * in_units(texture, texel[i]);
    }
    Texel result{};
    for (std::size_t i = 0; i < sum.size(); ++i) result[i] = filtered_bits(texture, sum[i] / kWeights);
    return result;
}

Texel gather(const TextureObject& texture, const DeviceMemory& memory, const TexturePoint& point, std::size_t channel,
             ReadTexels& read) {
    const Neighbours x = neighbours_of(texture, point, 0), y = neighbours_of(texture, point, 1);
    const std::int64_t layer = texture.layered ? layer_of(texture, point) : 0;
    const std::array<std::array<std::int64_t, 2>, 4> places{
        {{x.first, y.second}, {x.second, y.second}, {x.second, y.first}, {x.first, y.first}}};
    Texel result{};
    for (std::size_t i = 0; i < places.size(); ++i)
        result[i] = read_texel(texture, memory, {places[i][0], places[i][1], layer}, read)[channel];
    return result;
}

}  // namespace gputomo::sim
