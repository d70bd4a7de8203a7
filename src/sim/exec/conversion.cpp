// cvt: every integer and floating-point type to every other, with PTX's rounding and saturation.
#include "sim/exec/directed_rounding.hpp"
#include "sim/exec/lanes.hpp"

#include <cstdint>
#include <limits>
#include <utility>

namespace gputomo::sim {
namespace {

using ptx::Type;

template <class F>
F round_to_integer(Rounding how, F value) {
    switch (how) {
        case Rounding::integer_zero: return std::trunc(value);
        case Rounding::integer_down: return std::floor(value);
        case Rounding::integer_up: return std::ceil(value);
        default: return std::nearbyint(value);
    }
}

/// The value of T nearest to `value`; NaN becomes 0 (PTX ISA, cvt).
template <class T, class F>
T clamped(F value) {
    if (std::isnan(value)) return 0;
    const F low = static_cast<F>(std::numeric_limits<T>::min()), high = static_cast<F>(std::numeric_limits<T>::max());
    if (value <= low) return std::numeric_limits<T>::min();
    if (value >= high) return std::numeric_limits<T>::max();
    return static_cast<T>(value);
}

template <class To, class From>
To converted(const Operation& op, From value) {
    const auto how = static_cast<Rounding>(op.rounding);
    if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
        return clamped<To>(round_to_integer(how, value));
    } else if constexpr (std::is_floating_point_v<To> && std::is_floating_point_v<From>) {
        return static_cast<To>(how >= Rounding::integer_nearest ? round_to_integer(how, value) : value);
    } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
        if (op.saturate) {
            if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
            if (std::cmp_greater(value, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
        }
        return static_cast<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

/// Signed results are extended to the whole slot, because the register may be wider than the type.
template <class To>
std::uint64_t extended(To value) {
    if constexpr (std::is_integral_v<To> && std::is_signed_v<To>)
        return bits_of<std::int64_t>(value);
    else
        return bits_of<To>(value);
}

/// To a floating-point type, rounding to zero, down or up.
template <class To, class From>
void convert_directed(const Operation& op, LaneValues* r, std::uint32_t mask) {
    const RoundingGuard guard(static_cast<Rounding>(op.rounding));
    for_lanes(mask, [&](int l) {
        volatile From value = read<From>(op, r, 0, l);
        volatile To result = static_cast<To>(From{value});
        r[op.destination][l] = bits_of<To>(finished(op, To{result}));
    });
}

template <class To, class From>
void convert(const Operation& op, LaneValues* r, std::uint32_t mask) {
    if constexpr (std::is_floating_point_v<To>)
        if (is_directed(static_cast<Rounding>(op.rounding))) return convert_directed<To, From>(op, r, mask);
    for_lanes(mask, [&](int l) {
        const To value = converted<To>(op, read<From>(op, r, 0, l));
        if constexpr (std::is_floating_point_v<To>)
            r[op.destination][l] = bits_of<To>(finished(op, value));
        else
            r[op.destination][l] = extended(value);
    });
}

template <class From>
ExecuteFunction to_type(Type to) {
    switch (to) {
        case Type::u8: return convert<std::uint8_t, From>;
        case Type::s8: return convert<std::int8_t, From>;
        case Type::u16: return convert<std::uint16_t, From>;
        case Type::s16: return convert<std::int16_t, From>;
        case Type::u32: return convert<std::uint32_t, From>;
        case Type::s32: return convert<std::int32_t, From>;
        case Type::u64: return convert<std::uint64_t, From>;
        case Type::s64: return convert<std::int64_t, From>;
        case Type::f32: return convert<float, From>;
        case Type::f64: return convert<double, From>;
        default: return nullptr;
    }
}

}  // namespace

ExecuteFunction conversion_of(Type to, Type from) {
    switch (from) {
        case Type::u8: return to_type<std::uint8_t>(to);
        case Type::s8: return to_type<std::int8_t>(to);
        case Type::u16: return to_type<std::uint16_t>(to);
        case Type::s16: return to_type<std::int16_t>(to);
        case Type::u32: return to_type<std::uint32_t>(to);
        case Type::s32: return to_type<std::int32_t>(to);
        case Type::u64: return to_type<std::uint64_t>(to);
        case Type::s64: return to_type<std::int64_t>(to);
        case Type::f32: return to_type<float>(to);
        case Type::f64: return to_type<double>(to);
        default: return nullptr;
    }
}

}  // namespace gputomo::sim
