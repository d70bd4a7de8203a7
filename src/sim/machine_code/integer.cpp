// Integer arithmetic, logic, shifts and comparisons, in general and in uniform registers.
#include "sass/form.hpp"
#include "sim/exec/lookup.hpp"
#include "sim/machine_code/warp.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

constexpr std::uint64_t kLowWord = 0xFFFFFFFF;

/// Whether the instruction adds a carry (.X) or continues a comparison (.EX).
bool extends(const Step& step) {
    const auto text = step.instruction.form->row->modifiers;
    return text.find(".X ") != std::string_view::npos || text.find(".EX") != std::string_view::npos;
}

std::uint32_t bit(std::uint32_t bits, int lane) { return (bits >> lane) & 1; }

/// A term of a sum that also yields a carry: a negated word counts as its complement plus one in 33 bits.
std::uint64_t term(const Source& source, const View& view, int lane) {
    const std::uint32_t word = view.raw(lane);
    if (source.negate) return std::uint64_t{~word} + 1;
    return source.invert ? ~word : word;
}

void iadd3(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1), c = warp.view(step, 2);
    const bool carries = extends(step);
    const std::uint32_t first = carries ? warp.holds(step, 0) : 0, second = carries ? warp.holds(step, 1) : 0;
    std::uint32_t* const out = warp.result(step);
    std::uint32_t one = 0, two = 0;
    for_lanes(mask, [&](int l) {
        const std::uint64_t sum = term(step.source[0], a, l) + term(step.source[1], b, l) + term(step.source[2], c, l) +
                                  bit(first, l) + bit(second, l);
        out[l] = static_cast<std::uint32_t>(sum);
        one |= static_cast<std::uint32_t>((sum >> 32) >= 1) << l;
        two |= static_cast<std::uint32_t>((sum >> 32) >= 2) << l;
    });
    warp.set_predicate(step.predicate_out[0], one, mask);
    warp.set_predicate(step.predicate_out[1], two, mask);
}

/// The value of a 64-bit operand, after its sign or complement.
std::uint64_t word64(const Source& source, const View& low, const View& high, int lane) {
    const std::uint64_t bits = low.raw(lane) | std::uint64_t{high.raw(lane)} << 32;
    return source.negate ? ~bits + 1 : source.invert ? ~bits : bits;
}

void uiadd3_64(Warp& warp, const Step& step, std::uint32_t mask) {
    std::array<View, 3> low, high;
    for (int i = 0; i < 3; ++i) {
        low[static_cast<std::size_t>(i)] = warp.view(step, i);
        high[static_cast<std::size_t>(i)] = warp.view(step, i, 1);
    }
    // An immediate has 32 bits and is extended by its sign.
    std::uint32_t* const out = warp.result(step);
    std::uint32_t* const out_high = warp.result(step, 1);
    for_lanes(mask, [&](int l) {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < 3; ++i) sum += word64(step.source[i], low[i], high[i], l);
        out[l] = static_cast<std::uint32_t>(sum);
        out_high[l] = static_cast<std::uint32_t>(sum >> 32);
    });
}

enum class Product : std::uint8_t { low, wide, high };

std::uint64_t product64(std::uint32_t a, std::uint32_t b, bool is_signed) {
    return is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a)} *
                                                  std::int64_t{static_cast<std::int32_t>(b)})
                     : std::uint64_t{a} * b;
}

template <Product part>
void imad(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1), c = warp.view(step, 2);
    const View c_high = part == Product::low ? c : warp.view(step, 2, 1);
    const bool is_signed = step.instruction.value(Modifier::signedness) != 0;
    const std::uint32_t carry_in = extends(step) ? warp.holds(step, 0) : 0;
    std::uint32_t* const out = warp.result(step);
    std::uint32_t* const out_high = part == Product::wide ? warp.result(step, 1) : out;
    std::uint32_t carry = 0;
    for_lanes(mask, [&](int l) {
        const std::uint64_t product = product64(a[l], b[l], is_signed);
        if constexpr (part == Product::low) {
            out[l] = static_cast<std::uint32_t>(product + term(step.source[2], c, l) + bit(carry_in, l));
        } else {
            // The addend is a pair of registers, with .HI too.
            const std::uint64_t sum = product + word64(step.source[2], c, c_high, l) + bit(carry_in, l);
            carry |= static_cast<std::uint32_t>(sum < product) << l;
            out[l] = static_cast<std::uint32_t>(part == Product::wide ? sum : sum >> 32);
            if (part == Product::wide) out_high[l] = static_cast<std::uint32_t>(sum >> 32);
        }
    });
    warp.set_predicate(step.predicate_out[0], carry, mask);
}

/// Bits of a comparison's code: which orders satisfy it. The fourth bit says that unordered values do.
enum : unsigned { kLess = 1, kEqual = 2, kGreater = 4 };

void isetp(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    const unsigned code = step.instruction.value(Modifier::integer_compare);
    const bool is_signed = step.instruction.value(Modifier::signedness) != 0, extended = extends(step);
    const std::uint32_t low = extended ? warp.holds(step, 1) : 0;
    std::uint32_t test = 0;
    for_lanes(mask, [&](int l) {
        const std::uint32_t x = a[l], y = b[l];
        const bool less = is_signed ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) : x < y;
        bool result = (code & (less ? kLess : x == y ? kEqual : kGreater)) != 0;
        // The lower words decide where the upper ones are equal.
        if (extended && x == y) result = bit(low, l) != 0;
        test |= static_cast<std::uint32_t>(result) << l;
    });
    const std::uint32_t other = warp.holds(step, 0);
    const unsigned how = step.instruction.value(Modifier::combine);
    const auto combined = [&](std::uint32_t t) { return how == 0 ? t & other : how == 1 ? t | other : t ^ other; };
    warp.set_predicate(step.predicate_out[0], combined(test), mask);
    warp.set_predicate(step.predicate_out[1], combined(~test), mask);
}

void lea(Warp& warp, const Step& step, std::uint32_t mask) {
    const auto text = step.instruction.form->row->modifiers;
    const bool high = text.find(".HI") != std::string_view::npos, sign = text.find(".SX32") != std::string_view::npos;
    const bool carries = extends(step);
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    const View c = high && !sign ? warp.view(step, 2) : View{};
    const std::uint32_t carry_in = carries ? warp.holds(step, 0) : 0;
    const std::uint32_t shift = step.mode & 31;
    const Source& shifted = step.source[0];
    std::uint32_t* const out = warp.result(step);
    std::uint32_t carry = 0;
    for_lanes(mask, [&](int l) {
        const std::uint32_t low = a.raw(l);
        std::uint64_t value = low;
        if (high) {
            const std::uint32_t upper = sign ? (low >> 31 != 0 ? ~0U : 0U) : c.raw(l);
            value |= std::uint64_t{upper} << 32;
        }
        value <<= shift;
        std::uint64_t first = 0;
        if (high) {
            if (shifted.negate) value = ~value + 1;
            if (shifted.invert) value = ~value;
            first = value >> 32;
        } else {
            const auto word = static_cast<std::uint32_t>(value);
            first = shifted.negate ? std::uint64_t{~word} + 1 : shifted.invert ? ~word : word;
        }
        const std::uint64_t sum = first + term(step.source[1], b, l) + bit(carry_in, l);
        out[l] = static_cast<std::uint32_t>(sum);
        carry |= static_cast<std::uint32_t>((sum >> 32) != 0) << l;
    });
    warp.set_predicate(step.predicate_out[0], carry, mask);
}

void lop3(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1), c = warp.view(step, 2);
    const auto table = static_cast<std::uint8_t>(step.mode);
    std::uint32_t* const out = warp.result(step);
    std::uint32_t test = 0;
    for_lanes(mask, [&](int l) {
        const std::uint32_t value = lookup3(table, a[l], b[l], c[l]);
        out[l] = value;
        test |= static_cast<std::uint32_t>(value != 0) << l;
    });
    const std::uint32_t other = warp.holds(step, 0);
    const bool both = step.instruction.value(Modifier::pand) != 0;
    warp.set_predicate(step.predicate_out[0], both ? test & other : test | other, mask);
}

void plop3(Warp& warp, const Step& step, std::uint32_t mask) {
    const std::uint32_t a = warp.holds(step, 0), b = warp.holds(step, 1), c = warp.holds(step, 2);
    warp.set_predicate(step.predicate_out[0], lookup3(static_cast<std::uint8_t>(step.mode), a, b, c), mask);
    warp.set_predicate(step.predicate_out[1], lookup3(static_cast<std::uint8_t>(step.mode >> 8), a, b, c), mask);
}

void shf(Warp& warp, const Step& step, std::uint32_t mask) {
    const View low = warp.view(step, 0), amount = warp.view(step, 1), upper = warp.view(step, 2);
    const bool right = step.instruction.value(Modifier::direction) != 0;
    const bool wraps = step.instruction.value(Modifier::wrap) != 0, high = step.instruction.value(Modifier::high) != 0;
    const unsigned format = step.instruction.value(Modifier::shift_format);
    const bool is_signed = (format & 1) == 0;
    const std::uint32_t limit = format < 2 ? 64 : 32;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const std::uint64_t value = low[l] | std::uint64_t{upper[l]} << 32;
        const std::uint32_t n = wraps ? amount[l] & (limit - 1) : std::min(amount[l], limit);
        std::uint64_t moved = 0;
        if (!right)
            moved = n >= 64 ? 0 : value << n;
        else if (is_signed)
            moved = static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> std::min(n, 63U));
        else
            moved = n >= 64 ? 0 : value >> n;
        out[l] = static_cast<std::uint32_t>(high ? moved >> 32 : moved);
    });
}

void prmt(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), selector = warp.view(step, 1), c = warp.view(step, 2);
    const unsigned how = step.instruction.value(Modifier::permutation);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const std::uint64_t both = a[l] | std::uint64_t{c[l]} << 32;
        const std::uint32_t s = selector[l], first = s & 3;
        std::uint32_t value = 0;
        for (std::uint32_t i = 0; i < 4; ++i) {
            std::uint32_t pick = 0;
            switch (how) {
                case 0: pick = (s >> (4 * i)) & 15; break;
                case 1: pick = first + i; break;
                case 2: pick = (first - i) & 7; break;
                case 3: pick = first; break;
                case 4: pick = std::max(first, i); break;
                case 5: pick = std::min(first, i); break;
                default: pick = (first & 1) * 2 + (i & 1); break;
            }
            auto byte = static_cast<std::uint32_t>((both >> (8 * (pick & 7))) & 0xFF);
            if (how == 0 && (pick & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
            value |= byte << (8 * i);
        }
        out[l] = value;
    });
}

template <auto function>
void unary(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = function(a[l]); });
}

std::uint32_t reversed(std::uint32_t bits) {
    std::uint32_t out = 0;
    for (int i = 0; i < 32; ++i, bits >>= 1) out = out << 1 | (bits & 1);
    return out;
}
std::uint32_t magnitude(std::uint32_t bits) { return bits >> 31 != 0 ? 0U - bits : bits; }
std::uint32_t ones(std::uint32_t bits) { return static_cast<std::uint32_t>(std::popcount(bits)); }

void flo(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0);
    const bool is_signed = step.instruction.value(Modifier::signedness) != 0;
    const bool amount = step.instruction.value(Modifier::shift_amount) != 0;
    std::uint32_t* const out = warp.result(step);
    std::uint32_t found = 0;
    for_lanes(mask, [&](int l) {
        std::uint32_t value = a[l];
        if (is_signed && value >> 31 != 0) value = ~value;
        const auto leading = static_cast<std::uint32_t>(std::countl_zero(value));
        out[l] = value == 0 ? kAllLanes : amount ? leading : 31 - leading;
        found |= static_cast<std::uint32_t>(value != 0) << l;
    });
    warp.set_predicate(step.predicate_out[0], found, mask);
}

void sgxt(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), width = warp.view(step, 1);
    const bool wraps = step.instruction.value(Modifier::wrap) != 0;
    const bool is_signed = step.instruction.value(Modifier::signedness) != 0;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const std::uint32_t bits = wraps ? width[l] & 31 : std::min(width[l], 32U);
        const std::uint32_t moved = bits == 0 ? 0 : a[l] << (32 - bits);
        if (bits == 0)
            out[l] = 0;
        else
            out[l] = is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(moved) >> (32 - bits))
                               : moved >> (32 - bits);
    });
}

void bmsk(Warp& warp, const Step& step, std::uint32_t mask) {
    const View start = warp.view(step, 0), width = warp.view(step, 1);
    const bool wraps = step.instruction.value(Modifier::wrap) != 0;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const std::uint32_t at = wraps ? start[l] & 31 : std::min(start[l], 32U);
        const std::uint32_t bits = wraps ? width[l] & 31 : std::min(width[l], 32U);
        out[l] = static_cast<std::uint32_t>(((std::uint64_t{1} << bits) - 1) << at);
    });
}

void sel(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    const std::uint32_t first = warp.holds(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = bit(first, l) != 0 ? a[l] : b[l]; });
}

void viadd(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = a[l] + b[l]; });
}

std::uint32_t chosen(std::uint32_t a, std::uint32_t b, bool smaller, bool is_signed) {
    const bool less = is_signed ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
    return less == smaller ? a : b;
}

std::uint32_t sum_of_halves(std::uint32_t a, std::uint32_t b, bool subtracts) {
    const auto sum = [&](std::uint32_t x, std::uint32_t y) { return subtracts ? x - y : x + y; };
    return (sum(a, b) & 0xFFFF) | sum(a >> 16, b >> 16) << 16;
}

/// Minimum and maximum of a and b (VIMNMX), of a + b and c (VIADDMNMX), or of three (VIMNMX3).
enum class Extreme : std::uint8_t { of_two, of_sum, of_three };
template <Extreme shape>
void minmax(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    const View c = shape == Extreme::of_two ? b : warp.view(step, 2);
    const bool is_signed = step.instruction.has(Modifier::signedness)
                               ? step.instruction.value(Modifier::signedness) != 0
                               : step.instruction.value(Modifier::minmax_format) != 0;
    const bool at_least_zero = step.instruction.value(Modifier::relu) != 0;
    const std::uint32_t smaller = warp.holds(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const bool min = bit(smaller, l) != 0;
        std::uint32_t value = 0;
        if constexpr (shape == Extreme::of_two)
            value = chosen(a[l], b[l], min, is_signed);
        else if constexpr (shape == Extreme::of_sum)
            value = chosen(a[l] + b[l], c[l], min, is_signed);
        else
            value = chosen(chosen(a[l], b[l], min, is_signed), c[l], min, is_signed);
        out[l] = at_least_zero && value >> 31 != 0 ? 0 : value;
    });
}

/// VIADD.16x2: both halves are added, without a carry between them.
void viadd_halves(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    const bool subtracts = step.source[1].negate;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = sum_of_halves(a.raw(l), b.raw(l), subtracts); });
}

/// Minima and maxima of both halves of each operand.
template <Extreme shape>
void minmax_halves(Warp& warp, const Step& step, std::uint32_t mask) {
    constexpr unsigned kSignedHalves = 3;
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    const View c = shape == Extreme::of_two ? b : warp.view(step, 2);
    const bool is_signed = step.instruction.value(Modifier::minmax_format) == kSignedHalves;
    const bool at_least_zero = step.instruction.value(Modifier::relu) != 0, subtracts = step.source[1].negate;
    const std::uint32_t smaller = warp.holds(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const bool min = bit(smaller, l) != 0;
        std::uint32_t word = 0;
        const std::uint32_t first = shape == Extreme::of_sum ? sum_of_halves(a.raw(l), b.raw(l), subtracts) : a.raw(l);
        for (const int shift : {0, 16}) {
            // In the upper half of a word, halves compare as words do.
            const auto half = [&](std::uint32_t from) { return from >> shift << 16; };
            std::uint32_t value = half(first);
            if constexpr (shape != Extreme::of_sum) value = chosen(value, half(b.raw(l)), min, is_signed);
            if constexpr (shape != Extreme::of_two) value = chosen(value, half(c.raw(l)), min, is_signed);
            if (at_least_zero && is_signed && value >> 31 != 0) value = 0;
            word |= value >> 16 << shift;
        }
        out[l] = word;
    });
}

/// VABSDIFF4: differences of the four bytes, or with .ACC their sum and an addend.
void differences_of_bytes(Warp& warp, const Step& step, std::uint32_t mask) {
    constexpr unsigned kUnsigned = 0;
    const View a = warp.view(step, 0), b = warp.view(step, 1), c = warp.view(step, 2);
    const bool is_signed = step.instruction.value(Modifier::difference_format) != kUnsigned;
    const bool sums = step.instruction.value(Modifier::accumulate) != 0;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        std::uint32_t word = 0, sum = c[l];
        for (int at = 0; at < 32; at += 8) {
            const auto byte = [&](std::uint32_t from) {
                const std::uint32_t bits = from >> at & 0xFF;
                return is_signed ? static_cast<int>(static_cast<std::int8_t>(bits)) : static_cast<int>(bits);
            };
            const auto difference = static_cast<std::uint32_t>(std::abs(byte(a[l]) - byte(b[l])));
            word |= difference << at;
            sum += difference;
        }
        out[l] = sums ? sum : word;
    });
}

std::uint32_t dot_part(std::uint32_t word, int i, int bits, bool is_signed) {
    const std::uint32_t part = word >> (bits * i) & ((1U << bits) - 1);
    return is_signed && (part >> (bits - 1)) != 0 ? part | ~((1U << bits) - 1) : part;
}

void idp(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1), c = warp.view(step, 2);
    const bool four = step.instruction.has(Modifier::dot_a8);
    const bool a_signed = step.instruction.value(four ? Modifier::dot_a8 : Modifier::dot_a16) != 0;
    const bool b_signed = step.instruction.value(Modifier::dot_b8) != 0;
    const int first = step.instruction.value(Modifier::dot_half) != 0 ? 2 : 0;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        std::uint32_t sum = c[l];
        for (int i = 0; i < (four ? 4 : 2); ++i)
            sum += dot_part(a[l], i, four ? 8 : 16, a_signed) * dot_part(b[l], first + i, 8, b_signed);
        out[l] = sum;
    });
}

void vabsdiff(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1), c = warp.view(step, 2);
    const bool is_signed = step.instruction.value(Modifier::signedness) != 0;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const std::uint32_t smaller = chosen(a[l], b[l], true, is_signed),
                            larger = chosen(a[l], b[l], false, is_signed);
        out[l] = larger - smaller + c[l];
    });
}

}  // namespace

Execute integer_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    const auto opcode = instruction.form->row->opcode;
    const bool packed = instruction.value(Modifier::minmax_format) > 1;
    switch (instruction.operation) {
        case Operation::IADD3: return iadd3;
        case Operation::UIADD3: return opcode == 0x097 ? uiadd3_64 : iadd3;
        case Operation::IMAD:
            return opcode == 0x025 ? imad<Product::wide> : opcode == 0x027 ? imad<Product::high> : imad<Product::low>;
        case Operation::UIMAD: return opcode == 0x0a5 ? imad<Product::wide> : imad<Product::low>;
        case Operation::ISETP:
        case Operation::UISETP: return isetp;
        case Operation::LEA:
        case Operation::ULEA: return lea;
        case Operation::LOP3:
        case Operation::ULOP3: return lop3;
        case Operation::PLOP3:
        case Operation::UPLOP3: return plop3;
        case Operation::SHF:
        case Operation::USHF: return shf;
        case Operation::PRMT:
        case Operation::UPRMT: return prmt;
        case Operation::BREV:
        case Operation::UBREV: return unary<reversed>;
        case Operation::POPC:
        case Operation::UPOPC: return unary<ones>;
        case Operation::IABS: return unary<magnitude>;
        case Operation::FLO:
        case Operation::UFLO: return flo;
        case Operation::SGXT:
        case Operation::USGXT: return sgxt;
        case Operation::BMSK:
        case Operation::UBMSK: return bmsk;
        case Operation::SEL:
        case Operation::USEL: return sel;
        case Operation::VIADD: return instruction.value(Modifier::add_format) == 0 ? viadd : viadd_halves;
        case Operation::IMNMX: return minmax<Extreme::of_two>;
        case Operation::VIMNMX: return packed ? minmax_halves<Extreme::of_two> : minmax<Extreme::of_two>;
        case Operation::VIADDMNMX: return packed ? minmax_halves<Extreme::of_sum> : minmax<Extreme::of_sum>;
        case Operation::VIMNMX3: return packed ? minmax_halves<Extreme::of_three> : minmax<Extreme::of_three>;
        case Operation::IDP: return idp;
        case Operation::VABSDIFF: return vabsdiff;
        case Operation::VABSDIFF4: {
            // It is not known what an addend does without .ACC.
            const bool known = instruction.value(Modifier::accumulate) != 0 ||
                               (step.source_count > 2 && step.source[2].kind == Source::Kind::zero);
            return known && step.predicate_out[0].number == sass::kTruePredicate ? differences_of_bytes : nullptr;
        }
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
