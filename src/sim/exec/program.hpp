// A kernel decoded once for execution: dense operations over register slots.
#pragma once

#include "ptx/ir.hpp"
#include "units/warp.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace gputomo::sim {

/// One register (or constant) of a warp: 64 bits for each lane.
using LaneValues = std::array<std::uint64_t, kWarpSize>;

struct Operation;
/// Computes one instruction for the lanes in `mask`. `registers` are the warp's slots.
using ExecuteFunction = void (*)(const Operation& operation, LaneValues* registers, std::uint32_t mask);

/// What the SM does with an operation beyond computing it.
enum class Kind : std::uint8_t {
    arithmetic,  ///< execute() and done
    special,     ///< mov from a special register
    load,
    store,
    atomic,
    texture,
    branch,
    indexed_branch,
    exit,
    trap,
    barrier,       ///< bar.sync, bar.red, bar.arrive
    warp_barrier,  ///< bar.warp.sync
    fence,         ///< waits for the warp's own memory accesses
    sleep,
    nothing,  ///< hints
    refused,  ///< is not known or cannot be simulated; Operation::refusal says why
};

[[nodiscard]] constexpr bool accesses_memory(Kind kind) {
    return kind == Kind::load || kind == Kind::store || kind == Kind::atomic || kind == Kind::texture;
}

/// What a block barrier does besides counting (Operation::mode).
enum class BarrierMode : std::uint8_t { sync, arrive, popc, and_, or_ };

/// The result of bar.red, of `voters` threads of which `votes` had a predicate that held.
[[nodiscard]] constexpr std::uint64_t barrier_vote(BarrierMode mode, std::uint32_t votes, std::uint32_t voters) {
    if (mode == BarrierMode::popc) return votes;
    return mode == BarrierMode::and_ ? votes == voters : votes != 0;
}

inline constexpr std::uint16_t kNoSlot = 0xFFFF;

struct Operation {
    Kind kind = Kind::arithmetic;
    ExecuteFunction execute = nullptr;
    std::uint16_t destination = kNoSlot;
    std::uint16_t destination2 = kNoSlot;  ///< second predicate of setp, predicate of shfl
    std::array<std::uint16_t, 4> source{kNoSlot, kNoSlot, kNoSlot, kNoSlot};
    std::uint8_t negated_sources = 0;  ///< bit per source: predicate read as its complement
    std::uint16_t guard = kNoSlot;
    bool guard_negated = false;
    std::uint16_t members = kNoSlot;  ///< member mask of a .sync instruction: lanes that must be there together
    /// Register slots that must be ready before issue, and those that the result makes ready. Constants and unused
    /// results are left out.
    std::array<std::uint16_t, 12> waits{};
    std::array<std::uint16_t, 5> writes{};
    std::uint8_t wait_count = 0;
    std::uint8_t write_count = 0;
    bool flush = false;         ///< .ftz
    bool saturate = false;      ///< .sat
    std::uint8_t compare = 0;   ///< Compare, of setp and set
    std::uint8_t combine = 0;   ///< Combine, of setp
    std::uint8_t rounding = 0;  ///< Rounding
    std::uint8_t mode = 0;      ///< operation of atom and red, BarrierMode of bar, truth table of lop3
    ptx::Opcode opcode{};
    ptx::Type type = ptx::Type::none;
    ptx::SpecialRegister special{};
    // memory
    ptx::Space space = ptx::Space::none;
    std::uint8_t bytes = 0;     ///< of one element
    std::uint8_t elements = 1;  ///< of a vector access
    bool sign_extend = false;
    bool bypass_near = false;  ///< .cg, .cv, .volatile: not served by the SM's own cache
    bool read_only = false;    ///< .nc
    std::array<std::uint16_t, 4> vector{kNoSlot, kNoSlot, kNoSlot, kNoSlot};  ///< loaded into or stored from
    std::int64_t offset = 0;
    // control
    std::uint32_t target = 0;
    std::uint32_t reconverge = 0;  ///< immediate post-dominator of a branch; body size where paths only meet at the end
    std::vector<std::uint32_t> targets;
    // timing
    std::uint16_t cost = 0;     ///< index into the SM's cost table
    std::uint16_t refusal = 0;  ///< of Kind::refused: index into Program::refusals
    int line = 0;

    [[nodiscard]] std::span<const std::uint16_t> read_slots() const { return {waits.data(), wait_count}; }
    [[nodiscard]] std::span<const std::uint16_t> written_slots() const { return {writes.data(), write_count}; }
};

struct Parameter {
    std::string name;
    std::size_t offset = 0;
    std::size_t size = 0;
};

struct Program {
    std::string name;
    std::vector<Operation> operations;
    std::vector<std::string> texts;      ///< PTX of each operation, for messages
    std::vector<std::string> refusals;   ///< why operations are not executed
    std::vector<std::string> cost_keys;  ///< distinct mnemonics; Operation::cost is an index here
    std::uint16_t slots = 0;
    std::uint16_t register_slots = 0;  ///< the first slots: declared registers; constants and scratch follow
    std::vector<std::pair<std::uint16_t, std::uint64_t>> constants;  ///< slots that hold literals and addresses
    std::vector<Parameter> parameters;
    std::size_t parameter_bytes = 0;
    std::uint64_t static_shared = 0;
    std::uint64_t local_bytes = 0;             ///< of one thread
    int registers_per_thread = 0;              ///< most 32-bit registers that live at once
    std::vector<std::uint8_t> register_words;  ///< 32-bit registers of each slot; 0 for predicates and constants
    int max_threads = 0;                       ///< .maxntid; 0: not given
};

/// Where module-scope variables lie: name -> device address.
using SymbolTable = std::unordered_map<std::string, std::uint64_t>;

/// Throws InputError naming kernel, line and instruction where something cannot be executed.
[[nodiscard]] Program decode(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolTable& symbols);

/// The function that computes an arithmetic instruction; nullptr where it is not one or cannot be executed.
/// The function, or Operation's flags, implement every modifier that the instruction has.
[[nodiscard]] ExecuteFunction meaning_of(const ptx::Instruction& instruction);
[[nodiscard]] ExecuteFunction directed_rounding_of(const ptx::Instruction& instruction);
/// f16, bf16 and pairs of them.
[[nodiscard]] ExecuteFunction half_meaning_of(const ptx::Instruction& instruction);
[[nodiscard]] ExecuteFunction half_conversion_of(ptx::Type to, ptx::Type from);
[[nodiscard]] ExecuteFunction conversion_of(ptx::Type to, ptx::Type from);
[[nodiscard]] ExecuteFunction cross_lane_meaning_of(const ptx::Instruction& instruction);
/// mov between a register and a vector of narrower ones: `elements` parts of `part_bytes`.
[[nodiscard]] ExecuteFunction packing_of(std::size_t part_bytes, bool unpack);

enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class Combine : std::uint8_t { none, and_, or_, xor_ };
enum class Rounding : std::uint8_t { nearest, zero, down, up, integer_nearest, integer_zero, integer_down, integer_up };

/// For each operation, those that may follow it; operations.size() stands for the end of the thread.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> successors_of(const std::vector<Operation>& operations);

/// Sets Operation::reconverge of every branch to its immediate post-dominator.
void find_reconvergence(std::vector<Operation>& operations);

/// The most 32-bit registers that are live at once. `words`: 32-bit registers of each slot; 0 for a constant.
[[nodiscard]] int register_pressure(const std::vector<Operation>& operations, const std::vector<std::uint8_t>& words);

/// Generic addresses of shared and local memory lie in windows where nothing else is allocated.
inline constexpr std::uint64_t kLocalWindow = 0x7e00'0000'0000;
inline constexpr std::uint64_t kSharedWindow = 0x7f00'0000'0000;
inline constexpr std::uint64_t kWindowSize = 0x0100'0000;

}  // namespace gputomo::sim
