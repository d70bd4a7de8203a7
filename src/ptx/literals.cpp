#include "ptx/literals.hpp"

#include <fmt/format.h>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace gputomo::ptx {

// Hardware conversion would make a signalling NaN quiet, so NaNs are converted bit by bit: the 23 fraction bits of a
// float are the upper ones of a double's 52.
std::uint64_t widen_float_bits(std::uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    if (!std::isnan(value)) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    return (std::uint64_t{bits >> 31} << 63) | (std::uint64_t{0x7ff} << 52) | (std::uint64_t{bits & 0x7fffffu} << 29);
}

std::uint32_t narrow_float_bits(std::uint64_t bits) {
    const double value = std::bit_cast<double>(bits);
    if (!std::isnan(value)) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const auto fraction = static_cast<std::uint32_t>(bits >> 29) & 0x7fffffu;
    return (static_cast<std::uint32_t>(bits >> 63) << 31) | (0xffu << 23) | (fraction == 0 ? 0x400000u : fraction);
}

namespace {

template <class T>
std::optional<T> whole(std::string_view text, int base) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

std::optional<Immediate> coded_float(std::string_view digits, std::size_t length) {
    const auto bits = digits.size() == length ? whole<std::uint64_t>(digits, 16) : std::nullopt;
    if (!bits) return std::nullopt;
    return Immediate{length == 8 ? widen_float_bits(static_cast<std::uint32_t>(*bits)) : *bits, true};
}

std::optional<Immediate> decimal_float(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return Immediate{std::bit_cast<std::uint64_t>(value), true};
}

}  // namespace

std::optional<Immediate> parse_literal(std::string_view text) {
    if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
    if (text.starts_with("0f") || text.starts_with("0F")) return coded_float(text.substr(2), 8);
    if (text.starts_with("0d") || text.starts_with("0D")) return coded_float(text.substr(2), 16);
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (!hexadecimal && text.find_first_of(".eE") != std::string_view::npos) return decimal_float(text);
    if (text.ends_with('U')) text.remove_suffix(1);
    int base = 10;
    if (hexadecimal)
        base = 16;
    else if (text.starts_with("0b") || text.starts_with("0B"))
        base = 2;
    else if (text.size() > 1 && text[0] == '0')
        base = 8;
    text.remove_prefix(base == 10 ? 0 : base == 8 ? 1 : 2);
    const auto value = whole<std::uint64_t>(text, base);
    if (!value) return std::nullopt;
    return Immediate{*value, false};
}

Immediate negated(Immediate value) {
    if (value.is_float) return {value.bits ^ (std::uint64_t{1} << 63), true};
    return {std::uint64_t{0} - value.bits, false};
}

Type literal_type(const Instruction& instruction) {
    return instruction.opcode == Opcode::slct ? instruction.type : instruction.source_type;
}

std::string float_literal(std::uint64_t double_bits) { return fmt::format("0f{:08X}", narrow_float_bits(double_bits)); }
std::string double_literal(std::uint64_t double_bits) { return fmt::format("0d{:016X}", double_bits); }

}  // namespace gputomo::ptx
