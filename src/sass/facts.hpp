// What the instruction table says of an instruction besides its encoding: what the SM does with it, and where its cost
// comes from.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gputomo::sass {

/// What executes an instruction. Those that scans find have the names of pipelines in machine descriptions.
enum class Unit : std::uint8_t {
    as_before,  ///< the row states no facts: those of the row before it with the same operation hold
    unknown,    ///< no scan has found it, as that of uniform registers
    none,       ///< a slot of the scheduler only; memory, barriers and branches take their own time
    sp,         ///< adds and multiplies floats, and multiplies integers
    integer,    ///< "int": integers and logic
    dpu,        ///< double precision
    sfu,        ///< the multi-function unit: special functions, conversions, counts of bits
    exchange,   ///< "lanes": exchanges values between lanes
    tensor,     ///< multiplies matrices
};

/// What the SM does with an instruction beyond computing a result.
enum class Class : std::uint8_t {
    compute,
    memory,          ///< loads, stores and atomics, in `space`
    shared_barrier,  ///< accesses a barrier in shared memory: SYNCS, ARRIVES
    constant,        ///< loads from a constant bank
    texture,
    copy,          ///< from global to shared memory, lane by lane: LDGSTS
    copy_barrier,  ///< completes when the copies before it have: LDGDEPBAR
    bulk_copy,     ///< between global and shared memory as one piece, or a box of a tensor: UBLKCP, UTMALDG
    bulk_group,    ///< completes when the bulk copies to global memory before it have: UTMACMDFLUSH
    fence,         ///< waits for the warp's accesses to memory
    wait,          ///< waits for dependence barriers: DEPBAR
    sleep,
    branch,  ///< branches, calls and returns
    exit,
    block_barrier,
    flow  ///< which threads of a warp go on together, and traps
};

enum class MemorySpace : std::uint8_t { global, generic, local, shared, constants };

enum class Access : std::uint8_t { load, store, atomic, reduction };

struct Facts {
    Unit unit = Unit::as_before;
    Class what = Class::compute;
    MemorySpace space = MemorySpace::global;  ///< of an instruction that accesses memory
    Access access = Access::load;
    /// A PTX operation that compiles to this instruction: its measured latency and rate are the instruction's. Where
    /// it is empty, scans timed the unit with instructions of this kind.
    std::string_view timed_as{};
    /// No scan timed the instruction: what the row names stands in for it, and answers list it.
    bool assumed = false;
    /// The PTX operation that stands for it where only a listing is known (`predict --static`), because descriptions
    /// of all generations have it. Empty: a listing with this instruction is refused.
    std::string_view listed_as = "add.s32";
    /// 32-bit words that each source register operand takes in the register file; the last one holds for further ones.
    std::array<std::uint8_t, 4> words{1, 1, 1, 1};
    /// Its result comes after a varying time: it waits for memory, special functions, double precision, a conversion
    /// or another thread. Not so loads of constants and special registers.
    bool slow = false;
    std::string_view name{};  ///< of this opcode, where an operation has several: "IMAD.WIDE"

    [[nodiscard]] std::uint32_t words_of_source(std::size_t source) const {
        return words[std::min(source, words.size() - 1)];
    }
    [[nodiscard]] bool accesses_shared() const {
        return (what == Class::memory || what == Class::shared_barrier) && space == MemorySpace::shared;
    }
};

/// "int"; empty where no scan finds the unit, and where there is none.
[[nodiscard]] std::string_view name_of(Unit unit);

}  // namespace gputomo::sass
