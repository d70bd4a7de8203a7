// Matrix instructions of a warp: HMMA, IMMA and DMMA, and the loads and stores of their matrices.
//
// The lane with number 4 g + t holds elements of row or column g. The layouts are those of mma.sync in the PTX ISA.
// aligned_sum() adds as the tensor cores of an H200 do.
#include "sass/form.hpp"
#include "sim/exec/half_format.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/exec/powers_of_two.hpp"
#include "sim/machine_code/rounding.hpp"
#include "sim/machine_code/warp.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

constexpr int kRows = 16, kColumns = 8, kMostDepth = 32;

/// What a matrix instruction multiplies; packed into Step::mode.
enum class Element : std::uint8_t { f16, bf16, tf32, u8, s8 };
struct Multiplication {
    int rows = kRows;
    int depth = 16;
    Element a = Element::f16, b = Element::f16;
    bool wide = true;  ///< 32-bit accumulators; else half precision
    bool saturates = false;
};

std::uint32_t packed_mode(const Multiplication& what) {
    return static_cast<std::uint32_t>(what.depth) | static_cast<std::uint32_t>(what.rows) << 8 |
           static_cast<std::uint32_t>(what.a) << 16 | static_cast<std::uint32_t>(what.b) << 20 |
           static_cast<std::uint32_t>(what.wide) << 24 | static_cast<std::uint32_t>(what.saturates) << 25;
}

Multiplication unpacked_mode(std::uint32_t mode) {
    return {
        static_cast<int>(mode >> 8 & 0xFF),     static_cast<int>(mode & 0xFF), static_cast<Element>(mode >> 16 & 0xF),
        static_cast<Element>(mode >> 20 & 0xF), (mode >> 24 & 1) != 0,         (mode >> 25 & 1) != 0};
}

bool is_integer(Element element) { return element == Element::u8 || element == Element::s8; }

int bytes_of_element(Element element) { return element == Element::tf32 ? 4 : is_integer(element) ? 1 : 2; }

double element_value(Element element, std::uint32_t word, int place) {
    constexpr std::uint32_t kTf32 = 0xFFFFE000;  // its sign, exponent and ten bits of fraction
    switch (element) {
        case Element::f16: return value_of<F16>(static_cast<std::uint16_t>(word >> (16 * place)));
        case Element::bf16: return value_of<BF16>(static_cast<std::uint16_t>(word >> (16 * place)));
        case Element::tf32: return static_cast<double>(std::bit_cast<float>(word & kTf32));
        case Element::u8: return static_cast<double>(word >> (8 * place) & 0xFF);
        default: return static_cast<double>(static_cast<std::int8_t>(word >> (8 * place)));
    }
}

struct Matrices {
    std::array<std::array<double, kMostDepth>, kRows> a{};
    std::array<std::array<double, kMostDepth>, kColumns> b{};  ///< transposed
};

/// A register of A holds neighbouring elements of a row. The first registers hold rows g and g + 8 of the first half of
/// the columns, the next ones the second half.
void read_matrices(const Warp& warp, const Step& step, const Multiplication& what, Matrices& to) {
    const int each = 4 / bytes_of_element(what.a), across = 4 * each, row_groups = what.rows / 8;
    for (int part = 0; part * across < what.depth; ++part) {
        const auto column = [&](int lane, int i) {
            return static_cast<std::size_t>(part * across + lane % 4 * each + i);
        };
        for (int group = 0; group < row_groups; ++group) {
            const View words = warp.view(step, 0, part * row_groups + group);
            for (int lane = 0; lane < kWarpSize; ++lane)
                for (int i = 0; i < each; ++i)
                    to.a[static_cast<std::size_t>(lane / 4 + 8 * group)][column(lane, i)] =
                        element_value(what.a, words[lane], i);
        }
        const View words = warp.view(step, 1, part);
        for (int lane = 0; lane < kWarpSize; ++lane)
            for (int i = 0; i < each; ++i)
                to.b[static_cast<std::size_t>(lane / 4)][column(lane, i)] = element_value(what.b, words[lane], i);
    }
}

/// The sum of products of a row of A and a column of B: exact for integers, and infinite or no number where that of
/// floats is.
double sum_of(const Matrices& matrices, int row, int column, int depth) {
    double sum = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(depth); ++k)
        sum += matrices.a[static_cast<std::size_t>(row)][k] * matrices.b[static_cast<std::size_t>(column)][k];
    return sum;
}

/// Integers are added without loss. With .SAT the sum stays within 32 bits, else it wraps.
std::uint32_t integer_sum(const Multiplication& what, double sum, std::uint32_t accumulator) {
    using limits = std::numeric_limits<std::int32_t>;
    const std::int64_t exact = static_cast<std::int64_t>(sum) + static_cast<std::int32_t>(accumulator);
    if (!what.saturates) return static_cast<std::uint32_t>(exact);
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(exact, limits::min(), limits::max()));
}

constexpr int kZeroExponent = -10000;  ///< of a number that is zero: below all others

/// A finite number as mantissa * 2^(exponent - kMantissaBits). The mantissa is at least 2^kMantissaBits, or zero.
struct Split {
    std::int32_t mantissa = 0;
    std::int32_t exponent = kZeroExponent;
};

template <int bits>
Split split(double value) {
    if (value == 0 || !std::isfinite(value)) return {};
    const int exponent = binary_exponent(value);
    return {static_cast<std::int32_t>(times_power_of_two(value, bits - exponent)), exponent};
}

constexpr int kFactorBits = 10, kAddendBits = 23;

/// A mantissa times 2^shift, cut off towards zero.
std::int64_t shifted(std::int64_t mantissa, int shift) {
    constexpr int kNothingLeft = 62;
    if (shift >= 0) return mantissa << shift;
    if (shift < -kNothingLeft) return 0;
    return mantissa < 0 ? -(-mantissa >> -shift) : mantissa >> -shift;
}

/// sum * 2^exponent as a float, cut off towards zero.
float cut_off(std::int64_t sum, int exponent) {
    constexpr int kMantissa = 24, kSmallest = -149;
    const std::uint64_t magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const int excess = std::max(static_cast<int>(std::bit_width(magnitude)) - kMantissa, kSmallest - exponent);
    const std::uint64_t kept = excess <= 0 ? magnitude : excess > 62 ? 0 : magnitude >> excess << excess;
    const double value = times_power_of_two(static_cast<double>(kept), exponent);
    return static_cast<float>(sum < 0 ? -value : value);
}

/// Rows of A and columns of B as tensor cores add them up.
struct Factors {
    bool finite = true;
    std::array<std::array<Split, kMostDepth>, kRows> a{};
    std::array<std::array<Split, kMostDepth>, kColumns> b{};
};

Factors factors_of(const Matrices& matrices, const Multiplication& what) {
    Factors factors;
    const auto depth = static_cast<std::size_t>(what.depth);
    for (std::size_t row = 0; row < static_cast<std::size_t>(what.rows); ++row)
        for (std::size_t k = 0; k < depth; ++k) {
            factors.a[row][k] = split<kFactorBits>(matrices.a[row][k]);
            factors.finite &= std::isfinite(matrices.a[row][k]);
        }
    for (std::size_t column = 0; column < kColumns; ++column)
        for (std::size_t k = 0; k < depth; ++k) {
            factors.b[column][k] = split<kFactorBits>(matrices.b[column][k]);
            factors.finite &= std::isfinite(matrices.b[column][k]);
        }
    return factors;
}

/// The sum of the products and of the accumulator as the tensor cores of an H200 make it. All terms are cut off at the
/// same place, kGuard bits below the largest exponent, where a product's exponent is the sum of its factors'. The sum
/// is exact, and is cut off to a float. So 16,384 results of each type of factors are equal to the last bit, also those
/// of 8-bit floats with exponents far apart. With one bit more or less, 4% or more of these differ.
float aligned_sum(const std::array<Split, kMostDepth>& a, const std::array<Split, kMostDepth>& b, int depth,
                  float accumulator) {
    constexpr int kGuard = 25;
    const Split added = split<kAddendBits>(static_cast<double>(accumulator));
    int largest = added.exponent;
    for (std::size_t k = 0; k < static_cast<std::size_t>(depth); ++k)
        if (a[k].mantissa != 0 && b[k].mantissa != 0) largest = std::max(largest, a[k].exponent + b[k].exponent);
    if (largest == kZeroExponent) return 0;
    std::int64_t sum = shifted(added.mantissa, kGuard - kAddendBits - (largest - added.exponent));
    for (std::size_t k = 0; k < static_cast<std::size_t>(depth); ++k) {
        const std::int64_t product = std::int64_t{a[k].mantissa} * b[k].mantissa;
        if (product != 0) sum += shifted(product, kGuard - 2 * kFactorBits - (largest - a[k].exponent - b[k].exponent));
    }
    return cut_off(sum, largest - kGuard);
}

void need_whole_warp(std::uint32_t mask, const char* what) {
    if (mask != kAllLanes)
        throw LaneFault(std::countr_zero(mask), std::string(what) + " without all threads of its warp,");
}

/// A lane holds two neighbouring elements of row g of the result, and two of row g + 8.
void multiply(Warp& warp, const Step& step, std::uint32_t mask) {
    need_whole_warp(mask, "a matrix instruction");
    const Multiplication what = unpacked_mode(step.mode);
    if (warp.unknown != nullptr) return leave_unknown(warp, step, what.rows / 8 * (what.wide ? 2 : 1));
    Matrices matrices;
    read_matrices(warp, step, what, matrices);
    const bool aligns = what.wide && !is_integer(what.a);
    const Factors factors = aligns ? factors_of(matrices, what) : Factors{};
    for (int group = 0; group * 8 < what.rows; ++group)
        for (int lane = 0; lane < kWarpSize; ++lane) {
            std::uint32_t halves = 0;
            for (int i = 0; i < 2; ++i) {
                const int row = lane / 4 + 8 * group, column = lane % 4 * 2 + i;
                const double sum = aligns && factors.finite ? 0.0 : sum_of(matrices, row, column, what.depth);
                if (what.wide) {
                    const int word = 2 * group + i;
                    const std::uint32_t before = warp.view(step, 2, word)[lane];
                    const auto addend = std::bit_cast<float>(before);
                    std::uint32_t& result = warp.result(step, word)[lane];
                    if (!aligns)
                        result = integer_sum(what, sum, before);
                    else if (!std::isfinite(sum) || !std::isfinite(addend))
                        result = result_bits(static_cast<float>(sum + static_cast<double>(addend)), false, false);
                    else
                        result = std::bit_cast<std::uint32_t>(aligned_sum(factors.a[static_cast<std::size_t>(row)],
                                                                          factors.b[static_cast<std::size_t>(column)],
                                                                          what.depth, addend));
                } else {
                    const double added = element_value(Element::f16, warp.view(step, 2, group)[lane], i);
                    halves |= std::uint32_t{rounded<F16>(odd_sum(sum, added))} << (16 * i);
                }
            }
            if (!what.wide) warp.result(step, group)[lane] = halves;
        }
}

/// What a matrix instruction multiplies; false where it is not executed.
bool describe_multiplication(const Step& step, Multiplication& what) {
    const sass::Instruction& instruction = step.instruction;
    if (step.source_count != 3 || instruction.form->row->modifiers.find(".SP") != std::string_view::npos) return false;
    // A predicate that does not hold would leave out the accumulator.
    if (step.predicate_count > 0 && (step.predicate[0].number != sass::kTruePredicate || step.predicate[0].invert))
        return false;
    if (instruction.operation == Operation::HMMA) {
        constexpr Element kElements[] = {Element::f16, Element::bf16, Element::tf32};
        const unsigned kind = instruction.value(Modifier::multiplicand);
        const auto shape = sass::text_of(Modifier::matrix_shape, instruction.value(Modifier::matrix_shape));
        if (kind >= std::size(kElements)) return false;
        what.a = what.b = kElements[kind];
        what.depth = shape == "16816" ? 16 : shape == "1688" ? 8 : 4;
        what.wide = instruction.value(Modifier::accumulator) != 0;
        const int row_bytes = what.depth * bytes_of_element(what.a);
        return row_bytes == 16 || row_bytes == 32;
    }
    what.saturates = instruction.value(Modifier::saturate) != 0;
    const auto shape = sass::text_of(Modifier::integer_shape, instruction.value(Modifier::integer_shape));
    what.rows = shape == "8816" ? 8 : kRows;
    what.depth = shape == "16832" ? 32 : 16;
    what.a = instruction.value(Modifier::integer_a) != 0 ? Element::s8 : Element::u8;
    what.b = instruction.value(Modifier::integer_b) != 0 ? Element::s8 : Element::u8;
    return true;
}

/// BMMA: counts the bits that a row of A and a column of B have in common, or in which they differ (.XOR). Words lie as
/// those of IMMA do.
void multiply_bits(Warp& warp, const Step& step, std::uint32_t mask) {
    need_whole_warp(mask, "BMMA");
    const bool differ = step.instruction.form->row->modifiers.find(".XOR") != std::string_view::npos;
    const int groups = static_cast<int>(step.mode & 0xFF), parts = static_cast<int>(step.mode >> 8);
    if (warp.unknown != nullptr) return leave_unknown(warp, step, 2 * groups);
    std::array<std::array<std::uint32_t, 4>, kWarpSize> counts{};
    for (int lane = 0; lane < kWarpSize; ++lane)
        for (int i = 0; i < 2 * groups; ++i) {
            const int row = lane / 4, column = lane % 4 * 2 + i % 2;
            std::uint32_t count = warp.view(step, 2, i)[lane];
            for (int part = 0; part < parts; ++part)
                for (int t = 0; t < 4; ++t) {
                    const std::uint32_t a = warp.view(step, 0, part * groups + i / 2)[4 * row + t];
                    const std::uint32_t b = warp.view(step, 1, part)[4 * column + t];
                    count += static_cast<std::uint32_t>(std::popcount(differ ? a ^ b : a & b));
                }
            counts[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] = count;
        }
    for (int lane = 0; lane < kWarpSize; ++lane)
        for (int i = 0; i < 2 * groups; ++i)
            warp.result(step, i)[lane] = counts[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)];
}

bool describe_bits(Step& step) {
    const bool leaves_out =
        step.predicate_count > 0 && (step.predicate[0].number != sass::kTruePredicate || step.predicate[0].invert);
    if (step.source_count != 3 || leaves_out) return false;
    const auto shape = sass::text_of(Modifier::bit_shape, step.instruction.value(Modifier::bit_shape));
    step.mode = shape == "168256" ? 2U | 2U << 8 : 1U | 1U << 8;
    return true;
}

/// MOVM: transposes a matrix of 8 x 8 halves. A lane holds two neighbours of a row before and after.
void transpose(Warp& warp, const Step& step, std::uint32_t mask) {
    need_whole_warp(mask, "MOVM");
    const View words = warp.view(step, 0);
    std::array<std::uint32_t, kWarpSize> before{};
    for (int lane = 0; lane < kWarpSize; ++lane) before[static_cast<std::size_t>(lane)] = words[lane];
    const auto half = [&](std::size_t row, std::size_t column) {
        return before[4 * row + column / 2] >> (16 * (column % 2)) & 0xFFFF;
    };
    std::uint32_t* const out = warp.result(step);
    for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
        const std::size_t row = lane / 4, column = lane % 4 * 2;
        out[lane] = half(column, row) | half(column + 1, row) << 16;
    }
}

/// DMMA: a lane holds column t of rows g and g + 8 of the first matrix, and of the columns t + 4, t + 8 and t + 12 as
/// far as there are. Each element of the result is a chain of fused multiply-adds in the order of the columns.
void multiply_doubles(Warp& warp, const Step& step, std::uint32_t mask) {
    need_whole_warp(mask, "DMMA");
    constexpr int kColumnsOfLane = 4;
    const int rows = static_cast<int>(step.mode & 0xFF), depth = static_cast<int>(step.mode >> 8), groups = rows / 8;
    if (warp.unknown != nullptr) return leave_unknown(warp, step, 4 * groups);
    const auto element = [&](int source, int place, int lane) {
        const WideView words{warp.view(step, source, 2 * place), warp.view(step, source, 2 * place + 1)};
        return std::bit_cast<double>(words[lane]);
    };
    std::array<std::array<double, 2 * kRows / 8>, kWarpSize> sums{};
    for (int lane = 0; lane < kWarpSize; ++lane)
        for (int i = 0; i < 2 * groups; ++i) {
            const int row = lane / 4, column = lane % 4 * 2 + i % 2, group = i / 2;
            double sum = element(2, i, lane);
            for (int k = 0; k < depth; ++k) {
                const int part = k / kColumnsOfLane, t = k % kColumnsOfLane;
                sum = std::fma(element(0, part * groups + group, 4 * row + t), element(1, part, 4 * column + t), sum);
            }
            sums[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] = sum;
        }
    for (int lane = 0; lane < kWarpSize; ++lane)
        for (int i = 0; i < 2 * groups; ++i) {
            const auto bits =
                std::bit_cast<std::uint64_t>(sums[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)]);
            warp.result(step, 2 * i)[lane] = static_cast<std::uint32_t>(bits);
            warp.result(step, 2 * i + 1)[lane] = static_cast<std::uint32_t>(bits >> 32);
        }
}

bool describe_doubles(Step& step) {
    const bool leaves_out =
        step.predicate_count > 0 && (step.predicate[0].number != sass::kTruePredicate || step.predicate[0].invert);
    if (step.source_count != 3 || step.instruction.value(Modifier::rounding) != 0 || leaves_out) return false;
    const auto shape = sass::text_of(Modifier::double_shape, step.instruction.value(Modifier::double_shape));
    const std::uint32_t rows = shape.starts_with("16") ? 16 : 8;
    const std::uint32_t depth = shape.ends_with("x16") ? 16 : shape.ends_with("x8") ? 8 : 4;
    step.mode = rows | depth << 8;
    return true;
}

/// Lanes 8 i to 8 i + 7 have the addresses of the rows of matrix i. A row has eight halves.
constexpr std::size_t kRowBytes = 16;
using MatrixRows = std::array<std::array<std::uint16_t, 8>, 8>;

std::byte* row_at(Warp& warp, const Step& step, int matrix, std::size_t row) {
    return shared_bytes(warp, step.address, kRowBytes, 8 * matrix + static_cast<int>(row));
}

template <bool transposed>
void load_matrices(Warp& warp, const Step& step, std::uint32_t mask) {
    need_whole_warp(mask, "LDSM");
    // The result may replace the addresses.
    std::array<MatrixRows, 4> loaded{};
    for (int matrix = 0; matrix < static_cast<int>(step.mode); ++matrix)
        for (std::size_t row = 0; row < 8; ++row)
            std::memcpy(loaded[static_cast<std::size_t>(matrix)][row].data(), row_at(warp, step, matrix, row),
                        kRowBytes);
    for (int matrix = 0; matrix < static_cast<int>(step.mode); ++matrix) {
        const MatrixRows& rows = loaded[static_cast<std::size_t>(matrix)];
        std::uint32_t* const out = warp.result(step, matrix);
        for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
            const std::size_t g = lane / 4, t = lane % 4 * 2;
            out[lane] = transposed ? rows[t][g] | std::uint32_t{rows[t + 1][g]} << 16
                                   : rows[g][t] | std::uint32_t{rows[g][t + 1]} << 16;
        }
    }
}

template <bool transposed>
void store_matrices(Warp& warp, const Step& step, std::uint32_t mask) {
    need_whole_warp(mask, "STSM");
    for (int matrix = 0; matrix < static_cast<int>(step.mode); ++matrix) {
        MatrixRows rows{};
        const View words = warp.view(step, 0, matrix);
        for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
            const std::size_t g = lane / 4, t = lane % 4 * 2;
            const std::uint32_t word = words.raw(static_cast<int>(lane));
            (transposed ? rows[t][g] : rows[g][t]) = static_cast<std::uint16_t>(word);
            (transposed ? rows[t + 1][g] : rows[g][t + 1]) = static_cast<std::uint16_t>(word >> 16);
        }
        for (std::size_t row = 0; row < 8; ++row)
            std::memcpy(row_at(warp, step, matrix, row), rows[row].data(), kRowBytes);
    }
}

/// Layouts of LDSM and STSM: as the rows are, or transposed. Others expand narrower elements.
constexpr unsigned kPlain = 0, kTransposed = 1;

}  // namespace

Execute matrix_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    Multiplication what;
    switch (instruction.operation) {
        case Operation::HMMA:
        case Operation::IMMA:
            if (!describe_multiplication(step, what)) return nullptr;
            step.mode = packed_mode(what);
            return multiply;
        case Operation::BMMA: return describe_bits(step) ? multiply_bits : nullptr;
        case Operation::MOVM: return transpose;
        case Operation::DMMA: return describe_doubles(step) ? multiply_doubles : nullptr;
        case Operation::LDSM:
        case Operation::STSM: {
            const bool store = instruction.operation == Operation::STSM;
            const unsigned layout = instruction.value(store ? Modifier::matrix_store_layout : Modifier::matrix_layout);
            if (layout != kPlain && layout != kTransposed) return nullptr;
            step.mode = 1U << instruction.value(Modifier::matrix_count);
            step.bytes = kRowBytes;
            if (store) return layout == kPlain ? store_matrices<false> : store_matrices<true>;
            return layout == kPlain ? load_matrices<false> : load_matrices<true>;
        }
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
