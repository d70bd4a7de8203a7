#include "sim/machine_code/atomic_kind.hpp"

#include "sim/exec/half_format.hpp"
#include "sim/machine_code/rounding.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;

float flushed(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value; }

/// A float that an atomic made a NaN is the one that all operations in single precision give.
void keep_one_nan(std::byte* at) {
    float made = 0;
    std::memcpy(&made, at, sizeof made);
    if (std::isnan(made)) std::memcpy(at, &kNaN, sizeof kNaN);
}

template <class F>
std::uint64_t add_halves(std::byte* at, std::uint64_t addend) {
    std::uint32_t old = 0, sum = 0;
    std::memcpy(&old, at, sizeof old);
    for (int part = 0; part < 2; ++part) {
        const auto half = [&](std::uint64_t word) {
            return value_of<F>(static_cast<std::uint16_t>(word >> (16 * part)));
        };
        sum |= static_cast<std::uint32_t>(rounded<F>(odd_sum(half(old), half(addend)))) << (16 * part);
    }
    std::memcpy(at, &sum, sizeof sum);
    return old;
}

/// Values of Modifier::float_format. A vector has several words.
struct FloatFormat {
    std::string_view text;
    Number number;
    std::uint8_t words;
};
constexpr FloatFormat kFloatFormats[] = {
    {"F32.FTZ.RN", Number::f32_flushed, 0},
    {"F32.RN", Number::f32, 0},
    {"F64.RN", Number::f64, 0},
    {"F16x2.RN", Number::f16x2, 0},
    {"BF16x2.RN", Number::bf16x2, 0},
    {"F32x2.FTZ.RN", Number::f32_flushed, 2},
    {"F32x4.FTZ.RN", Number::f32_flushed, 4},
    {"F32x2.RN", Number::f32, 2},
    {"F32x4.RN", Number::f32, 4},
    {"F16x4.RN", Number::f16x2, 2},
    {"F16x8.RN", Number::f16x2, 4},
    {"BF16x4.RN", Number::bf16x2, 2},
    {"BF16x8.RN", Number::bf16x2, 4},
};

}  // namespace

std::uint64_t perform(Number number, Atomic mode, std::byte* at, std::uint64_t a, std::uint64_t b) {
    switch (number) {
        case Number::s32: return apply_atomic<std::int32_t>(mode, at, a, b);
        case Number::u64: return apply_atomic<std::uint64_t>(mode, at, a, b);
        case Number::s64: return apply_atomic<std::int64_t>(mode, at, a, b);
        case Number::f32: {
            const std::uint64_t old = apply_atomic<float>(mode, at, a, b);
            keep_one_nan(at);
            return old;
        }
        case Number::f64: return apply_atomic<double>(mode, at, a, b);
        case Number::f16x2: return add_halves<F16>(at, a);
        case Number::bf16x2: return add_halves<BF16>(at, a);
        case Number::f32_flushed: {
            float old = 0;
            std::memcpy(&old, at, sizeof old);
            const float sum = flushed(flushed(old) + flushed(std::bit_cast<float>(static_cast<std::uint32_t>(a))));
            std::memcpy(at, &sum, sizeof sum);
            keep_one_nan(at);
            return std::bit_cast<std::uint32_t>(old);
        }
        default: return apply_atomic<std::uint32_t>(mode, at, a, b);
    }
}

std::uint32_t packed(const AtomicKind& kind) {
    return static_cast<std::uint32_t>(kind.mode) | static_cast<std::uint32_t>(kind.number) << 8 |
           static_cast<std::uint32_t>(kind.returns_success) << 16 | static_cast<std::uint32_t>(kind.words) << 20;
}
AtomicKind unpacked(std::uint32_t mode) {
    return {static_cast<Atomic>(mode & 0xFF), static_cast<Number>(mode >> 8 & 0xFF), (mode >> 16 & 1) != 0,
            static_cast<std::uint8_t>(mode >> 20)};
}

bool describe_atomic(const sass::Instruction& instruction, AtomicKind& kind) {
    constexpr Atomic kOperations[] = {Atomic::add,  Atomic::min, Atomic::max,  Atomic::increment, Atomic::decrement,
                                      Atomic::and_, Atomic::or_, Atomic::xor_, Atomic::exchange};
    constexpr Number kNumbers[] = {Number::u32, Number::s32, Number::u64, Number::s64};
    const auto text = instruction.form->row->modifiers;
    if (instruction.has(Modifier::float_atomic)) {
        const std::string_view format =
            sass::text_of(Modifier::float_format, instruction.value(Modifier::float_format));
        if (instruction.value(Modifier::float_atomic) != 0) return false;
        kind.mode = Atomic::add;
        for (const auto& row : kFloatFormats) {
            if (row.text != format) continue;
            kind.number = row.number;
            kind.words = row.words;
            return true;
        }
        return false;
    }
    constexpr Number kOldNumbers[] = {Number::u32,   Number::s32, Number::u64, Number::f32_flushed,
                                      Number::f16x2, Number::s64, Number::f64};
    unsigned format = 0;
    for (const Modifier which : {Modifier::atomic_format, Modifier::unsigned_atomic_format, Modifier::reduction_format})
        if (instruction.has(which)) format = instruction.value(which);
    if (instruction.has(Modifier::old_atomic_format)) {
        format = instruction.value(Modifier::old_atomic_format);
        if (format >= std::size(kOldNumbers)) return false;
        kind.number = kOldNumbers[format];
    } else {
        if (format >= std::size(kNumbers)) return false;
        kind.number = kNumbers[format];
    }
    if (instruction.has(Modifier::exchange) || text.find(".CAS") != std::string_view::npos) {
        kind.mode = Atomic::compare_swap;
        kind.returns_success = instruction.has(Modifier::exchange) && instruction.value(Modifier::exchange) != 0;
        return true;
    }
    unsigned operation = 0;
    for (const Modifier which : {Modifier::atomic, Modifier::global_atomic, Modifier::reduction})
        if (instruction.has(which)) operation = instruction.value(which);
    if (operation >= std::size(kOperations)) return false;
    kind.mode = kOperations[operation];
    return kind.mode == Atomic::add || !is_float(kind.number);
}

}  // namespace gputomo::sim::machine_code
