// The 128 bits of one machine instruction.
#pragma once

#include <cstdint>

namespace gputomo::sass {

/// Bits [first, first + width) of an instruction. Bit 0 is the lowest bit of its first byte.
struct BitRange {
    std::uint8_t first = 0;
    std::uint8_t width = 0;
    constexpr bool operator==(const BitRange&) const = default;
};

struct Word {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    /// The bits of a range of at most 64 bits, as a number.
    [[nodiscard]] constexpr std::uint64_t get(BitRange bits) const {
        if (bits.width == 0) return 0;
        std::uint64_t value = bits.first < 64 ? low >> bits.first : high >> (bits.first - 64);
        if (bits.first > 0 && bits.first < 64) value |= high << (64 - bits.first);
        return value & ones(bits.width);
    }
    constexpr void set(BitRange bits, std::uint64_t value) {
        if (bits.width == 0) return;
        value &= ones(bits.width);
        if (bits.first >= 64) {
            high = (high & ~(ones(bits.width) << (bits.first - 64))) | value << (bits.first - 64);
            return;
        }
        low = (low & ~(ones(bits.width) << bits.first)) | value << bits.first;
        if (bits.first > 0 && bits.first + bits.width > 64)
            high = (high & ~(ones(bits.width) >> (64 - bits.first))) | value >> (64 - bits.first);
    }
    constexpr Word operator&(const Word& other) const { return {low & other.low, high & other.high}; }
    constexpr Word operator|(const Word& other) const { return {low | other.low, high | other.high}; }
    constexpr Word operator^(const Word& other) const { return {low ^ other.low, high ^ other.high}; }
    constexpr Word operator~() const { return {~low, ~high}; }
    constexpr bool operator==(const Word&) const = default;
    [[nodiscard]] constexpr bool any() const { return (low | high) != 0; }

    /// The lowest `width` bits set.
    static constexpr std::uint64_t ones(int width) { return width >= 64 ? ~0ULL : (1ULL << width) - 1; }
};

/// `value`, whose highest of `width` bits is the sign.
[[nodiscard]] constexpr std::int64_t sign_extended(std::uint64_t value, int width) {
    const int unused = 64 - width;
    return static_cast<std::int64_t>(value << unused) >> unused;
}

}  // namespace gputomo::sass
