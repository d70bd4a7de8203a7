// Quantities with a unit as types: Bytes and Nanoseconds do not mix, and unwrapping one is explicit.
#pragma once

#include <compare>
#include <cstdint>
#include <type_traits>

namespace gputomo {

/// A number with a unit. `Tag` makes quantities of different units different types; `Rep` is the stored number.
template <class Tag, class Rep>
class Quantity {
public:
    using rep = Rep;

    constexpr Quantity() = default;
    constexpr explicit Quantity(Rep value) : value_(value) {}

    /// The bare number. It has no unit any more, so call this only at the edge: formatting, JSON, kernel arguments.
    [[nodiscard]] constexpr Rep count() const { return value_; }

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy mistakes <=> for a comparison with 0
    constexpr auto operator<=>(const Quantity&) const = default;

    constexpr Quantity& operator+=(Quantity other) {
        value_ += other.value_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) {
        value_ -= other.value_;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
    friend constexpr Quantity operator*(Quantity a, Rep scale) { return Quantity(a.value_ * scale); }
    friend constexpr Quantity operator*(Rep scale, Quantity a) { return a * scale; }
    friend constexpr Quantity operator/(Quantity a, Rep scale) { return Quantity(a.value_ / scale); }
    /// The ratio of two quantities of the same unit is a bare number.
    friend constexpr Rep operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
    friend constexpr Quantity operator%(Quantity a, Quantity b) requires std::is_integral_v<Rep> {
        return Quantity(a.value_ % b.value_);
    }

private:
    Rep value_{};
};

/// A size or an offset in bytes.
using Bytes = Quantity<struct BytesTag, std::int64_t>;
/// Wall-clock time in nanoseconds.
using Nanoseconds = Quantity<struct NanosecondsTag, double>;

inline constexpr Bytes operator""_B(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n)); }
inline constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 10); }
inline constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 20); }
inline constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n) << 30); }

}  // namespace gputomo
