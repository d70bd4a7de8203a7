// What an atomic instruction of machine code does, and to which numbers.
#pragma once

#include "sass/form.hpp"
#include "sim/exec/atomic.hpp"

#include <cstddef>
#include <cstdint>

namespace gputomo::sim::machine_code {

/// The type of the values that an atomic works on.
enum class Number : std::uint8_t { u32, s32, u64, s64, f32, f32_flushed, f64, f16x2, bf16x2 };

[[nodiscard]] inline std::uint64_t bytes_of(Number number) {
    return number == Number::u64 || number == Number::s64 || number == Number::f64 ? 8 : 4;
}
[[nodiscard]] inline bool is_float(Number number) { return number >= Number::f32; }

/// Changes the number at `at`, and returns what was there. Compare-and-swap stores `b` where `a` was.
std::uint64_t perform(Number number, Atomic mode, std::byte* at, std::uint64_t a, std::uint64_t b);

/// Step::mode of an atomic: the operation, what it works on, and whether CAS returns its success.
struct AtomicKind {
    Atomic mode{};
    Number number{};
    bool returns_success = false;
    std::uint8_t words = 0;  ///< of a vector of 32-bit words, each of which is an atomic of its own; 0: no vector
};
[[nodiscard]] std::uint32_t packed(const AtomicKind& kind);
[[nodiscard]] AtomicKind unpacked(std::uint32_t mode);

/// What an atomic instruction does; false where it is not executed.
[[nodiscard]] bool describe_atomic(const sass::Instruction& instruction, AtomicKind& kind);

}  // namespace gputomo::sim::machine_code
