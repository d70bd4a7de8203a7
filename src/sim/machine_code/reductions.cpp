// How bulk reductions combine elements.
#include "sim/exec/atomic.hpp"
#include "sim/exec/half_format.hpp"
#include "sim/machine_code/bulk_copies.hpp"
#include "sim/machine_code/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace gputomo::sim::machine_code {
namespace {

constexpr Atomic kAtomics[] = {Atomic::add,       Atomic::min,  Atomic::max, Atomic::increment,
                               Atomic::decrement, Atomic::and_, Atomic::or_, Atomic::xor_};

template <class T>
void combine_as(Atomic how, std::byte* to, const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    T old;
    std::memcpy(&old, to, sizeof old);
    T result = atomic_result(how, old, value, T{});
    if constexpr (std::is_same_v<T, float>)
        if (std::isnan(result)) std::memcpy(&result, &kNaN, sizeof kNaN);
    std::memcpy(to, &result, sizeof result);
}

float flushed_to_zero(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

/// The smaller or larger one; a NaN loses, and a negative zero is smaller than a positive one.
template <class F>
void combine_halves(Combine how, std::byte* to, const std::byte* from) {
    std::uint16_t old = 0, other = 0;
    std::memcpy(&old, to, sizeof old);
    std::memcpy(&other, from, sizeof other);
    std::uint16_t result = 0;
    const auto a = value_of<F>(old), b = value_of<F>(other);
    if (how == Combine::add) {
        result = rounded<F>(odd_sum(a, b));
    } else if (std::isnan(a) || std::isnan(b)) {
        result = std::isnan(a) && std::isnan(b) ? std::uint16_t{0x7FFF} : std::isnan(a) ? other : old;
    } else {
        const bool old_is_less = a < b || (a == b && std::signbit(a));
        result = old_is_less == (how == Combine::min) ? old : other;
    }
    std::memcpy(to, &result, sizeof result);
}

}  // namespace

std::uint64_t bytes_of(ElementType type) {
    switch (type) {
        case ElementType::u8: return 1;
        case ElementType::u16:
        case ElementType::f16:
        case ElementType::bf16: return 2;
        case ElementType::u64:
        case ElementType::s64:
        case ElementType::f64: return 8;
        default: return 4;
    }
}

bool combines(Combine how, ElementType type) {
    switch (type) {
        case ElementType::u8:
        case ElementType::u16: return false;
        case ElementType::u32: return true;
        case ElementType::s32:
        case ElementType::s64:
        case ElementType::u64: return how != Combine::increment && how != Combine::decrement;
        case ElementType::f16:
        case ElementType::bf16: return how == Combine::add || how == Combine::min || how == Combine::max;
        default: return how == Combine::add;
    }
}

void combine(Combine how, ElementType type, std::byte* to, const std::byte* from) {
    const Atomic atomic = kAtomics[static_cast<std::size_t>(how)];
    switch (type) {
        case ElementType::s32: return combine_as<std::int32_t>(atomic, to, from);
        case ElementType::u64: return combine_as<std::uint64_t>(atomic, to, from);
        case ElementType::s64: return combine_as<std::int64_t>(atomic, to, from);
        case ElementType::f32: return combine_as<float>(atomic, to, from);
        case ElementType::f64: return combine_as<double>(atomic, to, from);
        case ElementType::f16: return combine_halves<F16>(how, to, from);
        case ElementType::bf16: return combine_halves<BF16>(how, to, from);
        case ElementType::f32_flushed: {
            float old = 0, value = 0;
            std::memcpy(&old, to, sizeof old);
            std::memcpy(&value, from, sizeof value);
            float sum = flushed_to_zero(flushed_to_zero(old) + flushed_to_zero(value));
            if (std::isnan(sum)) std::memcpy(&sum, &kNaN, sizeof kNaN);
            std::memcpy(to, &sum, sizeof sum);
            return;
        }
        default: return combine_as<std::uint32_t>(atomic, to, from);
    }
}

}  // namespace gputomo::sim::machine_code
