// What the tensor cores of an H200 compute of one element of a warp group's product.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace gputomo::sim::machine_code::warpgroup {

/// The types of elements of A and B.
enum class Element : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, b1 };
/// The types of accumulators.
enum class Sum : std::uint8_t { f32, f16, s32 };

/// A row of A or a column of B has 32 bytes. Where A is sparse, a column of B has 64, and half of them are multiplied.
inline constexpr int kMostKept = 32, kMostDepth = 2 * kMostKept;

/// A row of A or a column of B: numbers to multiply, or bytes or words.
///
/// A finite number is mantissa * 2^(exponent - 10). The mantissa of a normal number is from 2^10 to 2^11. A subnormal
/// number keeps the smallest exponent of its type, which decides where the sum is cut off.
struct Line {
    std::array<std::int16_t, kMostDepth> exponents{};
    std::array<std::int32_t, kMostDepth> mantissas{};  ///< or integers
    bool finite = true;
    std::array<double, kMostDepth> values{};  ///< where not all are finite
    std::array<std::uint32_t, 16> words{};    ///< of 32-bit elements, as they were read
    bool negated = false;
};

[[nodiscard]] int bits_of(Element element);

/// Reads a line of eight words, or of 16. `negated` changes the sign of floats.
void read_line(Element element, std::span<const std::uint32_t> words, bool negated, Line& line);

/// Where the elements of a row of a sparse A stand in the row, and so which ones of a column of B they multiply. Each
/// half of an element of 32 bits has a place.
using Places = std::array<std::uint8_t, kMostKept>;
/// The elements of a column of B at these places. Metadata that the PTX ISA leaves undefined do what an H200 does: an
/// element of B may be there twice, or be made of halves of two.
void keep(Element element, const Line& column, const Places& places, Line& kept);

/// The bits of a new accumulator: `sum` and the products of the elements of a row of A and a column of B.
///
/// Products of floats and the accumulator are cut off at the same place, 25 bits below the largest exponent. Where
/// elements have 8 bits, it is 13 bits below. A product's exponent is the sum of its factors'. The sum is exact. Single
/// precision cuts it off, to 13 bits of fraction where elements have 8 bits. Half precision rounds it to nearest.
[[nodiscard]] std::uint32_t float_sum(Element element, Sum type, const Line& a, const Line& b, std::uint32_t sum);
/// Integers wrap, or stay within 32 bits where the product saturates.
[[nodiscard]] std::uint32_t integer_sum(Element element, const Line& a, const Line& b, std::uint32_t sum,
                                        bool saturates);

}  // namespace gputomo::sim::machine_code::warpgroup
